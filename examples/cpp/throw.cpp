// Finds the initial speed with which a box slides half a metre, by Newton's method with exact derivatives of the run.
//   c++ throw.cpp -o throw $(pkg-config --cflags --libs sdrs) && ./throw SCENE.yaml
#include <sdrs.h>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

int main(int count, char** words) try {
  sdrs* opened = nullptr;
  sdrs_status status = sdrs_load(&opened, count > 1 ? words[1] : "scenes/tasks/throw-scene.yaml", nullptr);
  std::unique_ptr<sdrs, void (*)(sdrs*)> scene(opened, sdrs_free);
  auto check = [&](sdrs_status s) { if (s != SDRS_OK) throw std::runtime_error(sdrs_error(scene.get())); };
  check(status);
  std::vector<double> velocities = {1, 0, 0, 0, 0, 0};  // m/s, rad/s
  for (double miss = 1; miss * miss > 1e-24;) {
    sdrs_array x = SDRS_INIT(sdrs_array), slope = x;
    check(sdrs_set(scene.get(), SDRS_VELOCITIES, velocities.data(), velocities.size()));
    check(sdrs_run(scene.get(), 0));
    check(sdrs_record(scene.get(), SDRS_POSITION, sdrs_link_find(scene.get(), "box"), &x));
    miss = x.data[(x.rows - 1) * x.stride] - 0.5;
    std::vector<double> by_position(3 * x.rows);
    by_position[3 * (x.rows - 1)] = 1;  // derivative of miss by the final x
    sdrs_seed seed = {sizeof(seed), SDRS_POSITION, sdrs_link_find(scene.get(), "box"), by_position.data(), by_position.size()};
    check(sdrs_gradient(scene.get(), &seed, 1));
    check(sdrs_gradient_view(scene.get(), SDRS_VELOCITIES, &slope));
    velocities[0] -= miss / slope.data[0];
  }
  std::printf("%.12g\n", velocities[0]);
} catch (const std::exception& error) { return std::fprintf(stderr, "%s\n", error.what()), 1; }
