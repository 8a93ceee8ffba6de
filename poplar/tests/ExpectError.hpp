// Errors are part of the API: their type and what their message says.
#pragma once

#include <gtest/gtest.h>

#include <string>

// Expects `action` to throw `Error` with each of `parts` in its message.
template <typename Error, typename Action, typename... Parts>
void expectError(Action &&action, const Parts &...parts) {
  try {
    action();
    ADD_FAILURE() << "no exception was thrown";
  } catch (const Error &error) {
    std::string message = error.what();
    for (const std::string &part : {std::string(parts)...}) {
      EXPECT_NE(message.find(part), std::string::npos)
          << "'" << part << "' is not in: " << message;
    }
  } catch (const std::exception &error) {
    ADD_FAILURE() << "another exception was thrown: " << error.what();
  }
}
