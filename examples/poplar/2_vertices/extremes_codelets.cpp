// The device code of lesson 2. A codelet is a class with fields, which the
// graph connects to tensors, and compute(), which a tile runs.
#include <poplar/Vertex.hpp>

using namespace poplar;

// Finds the least and the greatest of some values.
class Extremes : public Vertex {
public:
  Input<Vector<float>> values;
  Output<float> least;
  Output<float> greatest;

  bool compute() {
    float low = values[0];
    float high = values[0];
    for (float value : values) {
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
    *least = low;
    *greatest = high;
    return true; // false would report a failure
  }
};

// Finds the widest gap between two lists and scales it. The scale is a field
// that is not connected: its value is part of the vertex.
class WidestGap : public Vertex {
public:
  Input<Vector<float>> from;
  Input<Vector<float>> to;
  Output<float> gap;
  float scale;

  bool compute() {
    float widest = 0;
    for (unsigned i = 0; i < from.size(); ++i) {
      float width = to[i] - from[i];
      widest = width > widest ? width : widest;
    }
    *gap = scale * widest;
    return true;
  }
};
