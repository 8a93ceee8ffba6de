// ONNX models made by hand, for the tests of this folder.
#pragma once

#include <popart/error.hpp>

#include <onnx/onnx_pb.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace popart::tests {

// The message of the popart::error that `f` throws; empty when it throws none.
// Any other exception fails the test.
template <typename F> std::string errorOf(F &&f) {
  try {
    f();
  } catch (const error &e) {
    return e.what();
  } catch (const std::exception &e) {
    ADD_FAILURE() << "not a popart::error: " << e.what();
  }
  return {};
}

#define EXPECT_ERROR(statement, part)                                          \
  do {                                                                         \
    std::string message = errorOf([&] { statement; });                         \
    EXPECT_NE(message.find(part), std::string::npos) << "got: " << message;    \
  } while (false)

inline onnx::ModelProto emptyModel(std::int64_t opset = 11) {
  onnx::ModelProto model;
  model.set_ir_version(4);
  model.mutable_graph()->set_name("test");
  auto *onnxOpset = model.add_opset_import();
  onnxOpset->set_version(opset);
  auto *graphcore = model.add_opset_import();
  graphcore->set_domain("ai.graphcore");
  graphcore->set_version(1);
  return model;
}

inline void setType(onnx::ValueInfoProto &value, const std::string &id,
                    const std::vector<std::int64_t> &shape,
                    int type = onnx::TensorProto::FLOAT) {
  value.set_name(id);
  auto *tensor = value.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (std::int64_t dim : shape) {
    tensor->mutable_shape()->add_dim()->set_dim_value(dim);
  }
}

inline void addInput(onnx::ModelProto &model, const std::string &id,
                     const std::vector<std::int64_t> &shape,
                     int type = onnx::TensorProto::FLOAT) {
  setType(*model.mutable_graph()->add_input(), id, shape, type);
}

inline void addOutput(onnx::ModelProto &model, const std::string &id,
                      const std::vector<std::int64_t> &shape,
                      int type = onnx::TensorProto::FLOAT) {
  setType(*model.mutable_graph()->add_output(), id, shape, type);
}

inline onnx::TensorProto &addInitializer(onnx::ModelProto &model,
                                         const std::string &id,
                                         const std::vector<std::int64_t> &shape,
                                         const std::vector<float> &values) {
  onnx::TensorProto *tensor = model.mutable_graph()->add_initializer();
  tensor->set_name(id);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (std::int64_t dim : shape) {
    tensor->add_dims(dim);
  }
  for (float value : values) {
    tensor->add_float_data(value);
  }
  return *tensor;
}

inline onnx::NodeProto &addNode(onnx::ModelProto &model,
                                const std::string &type,
                                const std::vector<std::string> &inputs,
                                const std::string &output,
                                const std::string &domain = "") {
  onnx::NodeProto *node = model.mutable_graph()->add_node();
  node->set_op_type(type);
  node->set_name("node_" + output);
  node->set_domain(domain);
  for (const std::string &input : inputs) {
    node->add_input(input);
  }
  node->add_output(output);
  return *node;
}

// y = Relu(x + w) with w = {1, -2, 3}
inline onnx::ModelProto smallModel(std::int64_t opset = 11) {
  onnx::ModelProto model = emptyModel(opset);
  addInput(model, "x", {2, 3});
  addInitializer(model, "w", {3}, {1, -2, 3});
  addNode(model, "Add", {"x", "w"}, "sum");
  addNode(model, "Relu", {"sum"}, "y");
  addOutput(model, "y", {2, 3});
  return model;
}

inline std::string bytesOf(const onnx::ModelProto &model) {
  return model.SerializeAsString();
}

// A folder of its own for the test, removed afterwards.
class Folder {
public:
  Folder() {
    const auto *info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ =
        std::filesystem::temp_directory_path() /
        (std::string("popart_") + info->test_suite_name() + "_" + info->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return (path_ / name).string();
  }
  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

} // namespace popart::tests
