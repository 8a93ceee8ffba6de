// The device code of lesson 6: small steps, joined by the host's programs.
#include <poplar/Vertex.hpp>

using namespace poplar;

class IsAboveOne : public Vertex {
public:
  Input<int> number;
  Output<bool> result;

  bool compute() {
    *result = *number > 1;
    return true;
  }
};

class Remainder : public Vertex {
public:
  Input<int> number;
  Output<int> result;
  int divisor;

  bool compute() {
    *result = *number % divisor;
    return true;
  }
};

// number = number * factor / divisor + increment
class Change : public Vertex {
public:
  InOut<int> number;
  int factor;
  int divisor;
  int increment;

  bool compute() {
    *number = *number * factor / divisor + increment;
    return true;
  }
};
