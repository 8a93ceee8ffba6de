// Files that appear whole or not at all, whoever else writes them and however
// this process ends.
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace popart {

// Calls `write` with a stream whose content takes the place of the file.
// Throws popart::error, and leaves nothing behind, where that is not possible.
// What a process that was killed left unfinished is written over by the next.
void writeWholeFile(const std::string &fileName,
                    const std::function<void(std::ostream &)> &write);

} // namespace popart
