/// Runs a use case and converts any error to ``Refusal/unavailable(_:)``.
///
/// Use it where only the database can fail.
func refusing<T, E: Error>(_ body: () async throws(E) -> T) async throws(Refusal) -> T {
  do {
    return try await body()
  } catch {
    throw Refusal.unavailable(error)
  }
}
