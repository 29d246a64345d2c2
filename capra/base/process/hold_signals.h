// A few steps that a signal does not interrupt.
#pragma once

#include <signal.h>

namespace capra {

/// While one is there, signals to this thread wait, and a handler on another thread that calls
/// `wait_for_holds` does. For what must be made and remembered in one step.
class HoldSignals {
 public:
  HoldSignals() noexcept;
  HoldSignals(const HoldSignals&) = delete;
  HoldSignals& operator=(const HoldSignals&) = delete;
  ~HoldSignals();

 private:
  sigset_t before_;
};

/// Returns when nothing is held, or after a second. For handlers of signals: it is
/// async-signal-safe, as `end_holds` is.
void wait_for_holds() noexcept;
/// From now on no thread gets past the start of a hold. For handlers that end the process.
void end_holds() noexcept;

}  // namespace capra
