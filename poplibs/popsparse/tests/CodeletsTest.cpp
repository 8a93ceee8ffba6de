// Programs that add the codelets link and run.
#include <popsparse/codelets.hpp>

#include <poplar/IPUModel.hpp>

#include <gtest/gtest.h>

namespace {

TEST(Popsparse, CodeletsMayBeAddedTwice) {
  poplar::Graph graph(poplar::IPUModel().createDevice().getTarget());
  popsparse::addCodelets(graph);
  popsparse::addCodelets(graph);
}

} // namespace
