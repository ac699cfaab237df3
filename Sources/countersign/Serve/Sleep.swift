/// Waits; returns false when the task is canceled meanwhile.
func slept(_ time: Duration) async -> Bool {
  do { try await Task.sleep(for: time) } catch { return false }
  return true
}
