// The device code of lesson 3: one element of a matrix-vector product.
#include <poplar/Vertex.hpp>

using namespace poplar;

class RowTimesVector : public Vertex {
public:
  Input<Vector<float>> row;
  Input<Vector<float>> vector;
  Output<float> product;

  bool compute() {
    float sum = 0;
    for (unsigned i = 0; i < row.size(); ++i) {
      sum += row[i] * vector[i];
    }
    *product = sum;
    return true;
  }
};
