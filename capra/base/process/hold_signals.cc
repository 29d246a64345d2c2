// A mask for this thread and a count for the others.
#include "capra/base/process/hold_signals.h"

#include <poll.h>
#include <pthread.h>

#include <atomic>

namespace capra {
namespace {

std::atomic<int> holds{0};
std::atomic<bool> is_ending{false};

}  // namespace

HoldSignals::HoldSignals() noexcept {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  ++holds;
  if (!is_ending) return;
  --holds;
  while (is_ending) ::poll(nullptr, 0, 1);  // the process ends under this thread
  ++holds;
}

HoldSignals::~HoldSignals() {
  --holds;
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void wait_for_holds() noexcept {
  constexpr int kMostMilliseconds = 1000;
  for (int i = 0; i < kMostMilliseconds && holds != 0; ++i) ::poll(nullptr, 0, 1);
}

void end_holds() noexcept { is_ending = true; }

}  // namespace capra
