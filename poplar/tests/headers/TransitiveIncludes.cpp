// Compiled as C++11: user programs use all of these after including nothing but
// the engine.
#include <poplar/Engine.hpp>

void uses() {
  assert(std::strcmp("a", "b") != 0 && strlen("abc") == 3);
  std::array<int, 2> pair = {{1, 2}};
  std::vector<int> v(pair.begin(), pair.end());
  std::sort(v.begin(), v.end());
  std::iota(v.begin(), v.end(), 0);
  std::map<int, std::string> m;
  std::set<std::uint8_t> s;
  std::tuple<int, float> t;
  (void)t;
  std::function<void()> f = [] {};
  f();
  std::unique_ptr<int> p(new int(int(floor(std::sqrt(2.0)))));
  std::ostringstream text;
  text << std::setw(4) << *p << std::numeric_limits<int>::max();
  std::istringstream input(text.str());
  std::cout << text.str() << std::endl;
  char buffer[4];
  strncpy(buffer, "ab", sizeof buffer);
  printf("%d %s\n", atoi("1"), buffer);
  std::printf("%zu\n", m.size() + s.size());
}
