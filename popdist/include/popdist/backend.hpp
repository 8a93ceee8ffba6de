// What carries data between instances: MPI, or a shared object of the user's
// (popdist/plugin.hpp). It is loaded only when a program registers it.
#pragma once

#include <stdexcept>
#include <string>

namespace popdist {

class popdist_error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

// One of them, once, before initializeBackend().
void registerDefaultBackend();
void registerBackend(const std::string &file);

// Meets the other instances; the program's end finalises what was not.
void initializeBackend();
bool isBackendInitialized();
// Waits for the other instances to do the same.
void finalizeBackend();

} // namespace popdist
