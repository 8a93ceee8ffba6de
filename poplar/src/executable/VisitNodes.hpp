// How programs are stored: each node once, after its children, which it names
// by number. Shared nodes stay shared, and nothing can contain itself.
#pragma once

#include "executable/VisitGraph.hpp"

namespace poplar::executable {

template <typename Archive>
void visit(Archive &archive, Is<internal::ProgramPtr> auto &program) {
  archive.program(program);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::SequenceNode> auto &node) {
  auto &[children] = node;
  archive(children);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::ExecuteNode> auto &node) {
  auto &[computeSet, exitStatus] = node;
  archive(computeSet, exitStatus);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::CopyNode> auto &node) {
  auto &[source, destination] = node;
  archive(source, destination);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::StreamInNode> auto &node) {
  auto &[stream, destination, replica] = node;
  archive(stream, destination, replica);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::StreamOutNode> auto &node) {
  auto &[source, stream, replica] = node;
  archive(source, stream, replica);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::RemoteReadNode> auto &node) {
  auto &[buffer, destination, offsets, replica] = node;
  archive(buffer, destination, offsets, replica);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::RemoteWriteNode> auto &node) {
  auto &[source, buffer, offsets, replica] = node;
  archive(source, buffer, offsets, replica);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::RepeatNode> auto &node) {
  auto &[count, body] = node;
  archive(count, body);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::WhileNode> auto &node) {
  auto &[condition, predicate, body, continuesOn] = node;
  archive(condition, predicate, body, continuesOn);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::IfNode> auto &node) {
  auto &[predicate, thenBody, elseBody] = node;
  archive(predicate, thenBody, elseBody);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::SwitchNode> auto &node) {
  auto &[control, cases, defaultBody] = node;
  archive(control, cases, defaultBody);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::CallNode> auto &node) {
  auto &[function] = node;
  archive(function);
}

template <typename Archive>
void visit(Archive &archive, Is<PrintTensorFmt> auto &format) {
  unsigned summariseThreshold = format.summariseThreshold();
  unsigned edgeItems = format.edgeItems();
  unsigned maxLineWidth = format.maxLineWidth();
  unsigned digits = format.digits();
  PrintTensorFmt::FloatFormat floatFormat = format.floatFormat();
  char separator = format.separator();
  char openBracket = format.openBracket();
  char closeBracket = format.closeBracket();
  bool isFormatted = format.isFormatted();
  archive(summariseThreshold, edgeItems, maxLineWidth, digits, floatFormat,
          separator, openBracket, closeBracket, isFormatted);
  if constexpr (Archive::isReading) {
    format = isFormatted ? PrintTensorFmt(summariseThreshold, edgeItems,
                                          maxLineWidth, digits, floatFormat,
                                          separator, openBracket, closeBracket)
                         : PrintTensorFmt::disableFormatting();
  }
}

template <typename Archive>
void visit(Archive &archive, Is<internal::PrintTensorNode> auto &node) {
  auto &[title, view, format, replica] = node;
  archive(title, view, format, replica);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::WriteUndefNode> auto &node) {
  auto &[view] = node;
  archive(view);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::SyncNode> auto &node) {
  auto &[type] = node;
  archive(type);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::CrossReplicaCopyNode> auto &node) {
  auto &[source, destination, replicas] = node;
  archive(source, destination, replicas);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::CollectiveNode> auto &node) {
  auto &[plan, source, destination] = node;
  auto &[kind, method, op, groups, root] = plan;
  archive(kind, method, op, groups, root, source, destination);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::BlockNode> auto &node) {
  auto &[body] = node;
  archive(body);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::AbortNode> auto &node) {
  auto &[message, condition] = node;
  archive(message, condition);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::ErrorNode> auto &node) {
  auto &[message, view] = node;
  archive(message, view);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::CycleCountNode> auto &node) {
  auto &[body, result, cycles] = node;
  archive(body, result, cycles);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::ProgramNode> auto &node) {
  auto &[op, debugPath, graph] = node; // what was read is of its graph
  archive(op, debugPath);
}

} // namespace poplar::executable
