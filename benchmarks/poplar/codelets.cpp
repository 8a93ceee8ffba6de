#include <poplar/Vertex.hpp>

using namespace poplar;

struct Add : public Vertex {
  Input<float> a;
  Input<float> b;
  Output<float> sum;
  bool compute() {
    *sum = *a + *b;
    return true;
  }
};

struct Scale : public Vertex {
  InOut<Vector<float>> values;
  bool compute() {
    for (unsigned i = 0; i < values.size(); ++i) {
      values[i] = values[i] * 0.999f;
    }
    return true;
  }
};

struct Increment : public Vertex {
  InOut<unsigned> value;
  bool compute() {
    *value += 1;
    return true;
  }
};
