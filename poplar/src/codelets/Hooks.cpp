#include "codelets/Hooks.hpp"

#include "codelets/Codelets.hpp"

#include <poplar/exceptions.hpp>

#include <cstdio>
#include <fmt/format.h>
#include <iostream>
#include <string>

namespace poplar::codelets {

namespace {

thread_local std::ostream *printStream = nullptr;
thread_local std::string failure;

int print(const char *format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (size > 0) {
    std::string text(static_cast<std::size_t>(size), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, arguments);
    (printStream ? *printStream : std::cerr) << text;
  }
  return size;
}

void fail(const char *assertion, const char *file, unsigned line,
          const char *function) {
  failure = fmt::format("{}:{}: {}: assertion `{}' failed", file, line,
                        function, assertion);
}

void raise() {
  throw application_runtime_error("[codelets] " + failure);
}

} // namespace

const popc::Host &hostHooks() {
  static const popc::Host hooks = {print, fail, raise};
  return hooks;
}

PrintScope::PrintScope(std::ostream &stream) : outer_(printStream) {
  printStream = &stream;
}

PrintScope::~PrintScope() {
  printStream = outer_;
}

} // namespace poplar::codelets
