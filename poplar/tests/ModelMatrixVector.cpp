// The vertices of the matrix-vector lesson; its cycles are in
// ModelCalibration.cpp.
#include "MatrixVectorLesson.hpp"

#include "model/MemoryUse.hpp"
#include "model/VertexTypes.hpp"

#include <gtest/gtest.h>

namespace poplar::testing {
namespace {

TEST(ModelMatrixVector, HasItsVerticesByType) {
  const MatrixVectorLesson lesson;
  model::StepTable steps(lesson.graph());
  const std::uint64_t runs[] = {1};
  const auto types = model::costByVertexType(steps, {lesson.program()}, runs);
  EXPECT_EQ(types.at("DotProductVertex").instances, 70000U);
  EXPECT_EQ(types.at("DotProductVertex").cycles, 60000U * 77 + 10000U * 76);
  EXPECT_EQ(types.at("ReduceVertex").cycles, 10000U * 9);
}

TEST(ModelMatrixVector, HasItsVerticesInMemory) {
  const MatrixVectorLesson lesson;
  model::StepTable steps(lesson.graph());
  const model::MemoryUse use = model::measureMemory(steps, {lesson.compute()});
  EXPECT_EQ(use.vertices, 80000U);
  EXPECT_EQ(use.edges, 70000U * 3 + 10000U * 2);
  // Two spans and a pointer; one span and a pointer.
  EXPECT_EQ(use.vertexData.byType.at("DotProductVertex"), 70000U * 20);
  EXPECT_EQ(use.vertexData.byType.at("ReduceVertex"), 10000U * 12);
}

} // namespace
} // namespace poplar::testing
