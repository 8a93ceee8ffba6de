// The device code of lesson 4: products of pieces of rows, and their sums.
#include <poplar/Vertex.hpp>

using namespace poplar;

class PieceTimesVector : public Vertex {
public:
  Input<Vector<float>> piece;
  Input<Vector<float>> vector;
  Output<float> partial;

  bool compute() {
    float sum = 0;
    for (unsigned i = 0; i < piece.size(); ++i) {
      sum += piece[i] * vector[i];
    }
    *partial = sum;
    return true;
  }
};

class SumPartials : public Vertex {
public:
  Input<Vector<float>> partials;
  Output<float> product;

  bool compute() {
    float sum = 0;
    for (float partial : partials) {
      sum += partial;
    }
    *product = sum;
    return true;
  }
};
