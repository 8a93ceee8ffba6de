// The model's own numbers: what the target does not carry. Each has the mark of
// docs/model.md: [V] published, [D] derived from published figures, [A]
// assumed.
#pragma once

#include <cstdint>

namespace poplar::model {

// Exchange between the tiles of an IPU.
inline constexpr std::uint64_t routingCycles = 84;         // [D]
inline constexpr std::uint64_t slotsPerFragmentIn = 3;     // [D]
inline constexpr std::uint64_t slotsPerFragmentOut = 1;    // [D]
inline constexpr std::uint64_t bytesPerExchangeInstr = 4;  // [D]
inline constexpr std::uint64_t wordsPerSend = 63;          // [A]
inline constexpr std::uint64_t exchangePrologueInstrs = 2; // [A]

// Copies inside a tile.
inline constexpr std::uint64_t copyCallCycles = 288;      // [D]
inline constexpr std::uint64_t wordCopyBytesPerCycle = 4; // [D]
inline constexpr std::uint64_t halfWordCopyCycles = 5;    // [D] per 2 bytes
inline constexpr std::uint64_t copyDescriptorBytes = 12;  // [A] per run
inline constexpr std::uint32_t copyVertexStateBytes = 12; // [A]
inline constexpr std::uint32_t copyVertexCodeBytes = 340; // [D]

// User vertices: compiled C++ whose loops nobody has measured.
inline constexpr std::uint64_t userVertexCycles = 25; // [A]
// Per element of an edge: each result from its own operands, or summed up; and
// elements of less than a word, which are taken apart and put together.
inline constexpr double userCyclesPerMapped = 2.1;  // [D] 6.3 for three edges
inline constexpr double userCyclesPerSummed = 4;    // [A] 8 for two operands
inline constexpr double userCyclesPerSubword = 6.5; // [A]
inline constexpr std::uint32_t userVectorBytes = 8; // [D] float2, half4
inline constexpr std::uint32_t userVertexCodeBytes = 550; // [A] per type

// Control flow.
inline constexpr std::uint64_t repeatIterationCycles = 20; // [A]
inline constexpr std::uint64_t branchCycles = 60;          // [A]
inline constexpr std::uint64_t callCycles = 20;            // [A]
inline constexpr std::uint64_t controlBytesPerStep = 24;   // [A]
inline constexpr std::uint64_t switchCaseBytes = 8;        // [A]
inline constexpr std::uint64_t controlWordBytes = 4;       // [D]

// Host and links.
inline constexpr std::uint64_t hostCopyCycles = 2078;       // [D] per copy
inline constexpr std::uint64_t remoteCopyBytes = 128 << 20; // [V] at most
inline constexpr std::uint64_t packetBytes = 256;           // [A]
inline constexpr std::uint64_t packetHeaderBytes = 8;       // [A]

// Memory of a tile.
inline constexpr std::uint64_t supervisorStackBytes = 128; // [V]
inline constexpr std::uint64_t workerStackBytes = 512;     // [V] per context
inline constexpr std::uint32_t allocationBytes = 8;        // [D] alignment
inline constexpr std::uint32_t transferBufferBytes = 32;   // [A] alignment
inline constexpr std::uint64_t counterBytes = 8;           // [A]
inline constexpr std::uint64_t memoryElementBytes = 16384; // [D]
inline constexpr std::uint32_t edgePointerBytes = 4;       // [D]
inline constexpr std::uint64_t vertexStateGrain = 4;       // [D]

} // namespace poplar::model
