/// Runs a use case in which nothing but the database can fail.
func refusing<T, E: Error>(_ body: () async throws(E) -> T) async throws(Refusal) -> T {
  do {
    return try await body()
  } catch {
    throw Refusal.unavailable(error)
  }
}
