// Adds two vectors.
#include <poplar/Vertex.hpp>

class VectorAdd : public poplar::Vertex {
public:
  poplar::Input<poplar::Vector<float>> x;
  poplar::Input<poplar::Vector<float>> y;
  poplar::Output<poplar::Vector<float>> z;

  bool compute() {
    for (auto i = 0u; i < z.size(); ++i) {
      z[i] = x[i] + y[i];
    }
    return true;
  }
};
