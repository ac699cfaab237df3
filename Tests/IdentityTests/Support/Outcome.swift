import Identity
import Testing

/// What became of a call: "done", or the name of the error's case, such as "emailExists" or
/// "session.tokenExpired".
func outcome<T>(_ body: @Sendable () async throws -> T) async -> String {
  do {
    _ = try await body()
    return "done"
  } catch {
    return caseName(error)
  }
}

/// The error that a call throws, of the type it has.
func thrown<T, E: Error>(_ type: E.Type, _ body: () async throws -> T) async throws -> E? {
  do {
    _ = try await body()
    return nil
  } catch let error as E {
    return error
  }
}

/// The name of a case, with those of the errors in it: "session.tokenExpired".
func caseName(_ value: Any) -> String {
  let mirror = Mirror(reflecting: value)
  // All that is amiss of a form: "reasonRequired+codeRequired".
  if let faults = mirror.children.first?.value as? [ActionInputError] {
    return faults.map(caseName).joined(separator: "+")
  }
  guard mirror.displayStyle == .enum else { return "\(value)" }
  guard let child = mirror.children.first, let label = child.label else { return "\(value)" }
  let inner = Mirror(reflecting: child.value)
  guard child.value is any Error, inner.displayStyle == .enum else { return label }
  return label + "." + caseName(child.value)
}

/// Runs a call `count` times at once; the results come in the order they are ready.
func atOnce<T: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) async throws -> T
) async throws -> [T] {
  try await withThrowingTaskGroup(of: T.self) { group in
    for index in 0..<count { group.addTask { try await body(index) } }
    return try await group.reduce(into: []) { $0.append($1) }
  }
}

extension Sequence where Element: Hashable {
  /// How often each element occurs.
  var tally: [Element: Int] { reduce(into: [:]) { $0[$1, default: 0] += 1 } }
}

/// Expects an outcome of a call.
///
/// Two closures of which one stands in `#expect` and one does not crash the compiler when they
/// share a function (Swift 6.3.1), so calls stand in neither.
func expect<T>(
  _ expected: String, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: @Sendable () async throws -> T
) async {
  let outcome = await outcome(body)
  #expect(outcome == expected, sourceLocation: sourceLocation)
}
