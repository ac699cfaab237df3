import Identity
import Testing

/// Returns the outcome of a call: "done", "unavailable" for a failure of the server, or the name of
/// the error's case, such as "emailExists" or "enrollment.unverifiedEmail".
func outcome<T>(_ body: @Sendable () async throws -> T) async -> String {
  do {
    _ = try await body()
    return "done"
  } catch {
    return Failure(of: error) == nil ? caseName(error) : "unavailable"
  }
}

/// Returns the error of the given type that a call throws, or nil if it doesn't throw.
func thrown<T, E: Error>(_ type: E.Type, _ body: () async throws -> T) async throws -> E? {
  do {
    _ = try await body()
    return nil
  } catch let error as E {
    return error
  }
}

/// Returns the name of a case with those of nested errors, such as "enrollment.unverifiedEmail".
func caseName(_ value: Any) -> String {
  let mirror = Mirror(reflecting: value)
  // All validation errors of a form, such as "reasonRequired+codeRequired".
  if let faults = mirror.children.first?.value as? [ActionInputError] {
    return faults.map(caseName).joined(separator: "+")
  }
  guard mirror.displayStyle == .enum else { return "\(value)" }
  guard let child = mirror.children.first, let label = child.label else { return "\(value)" }
  let inner = Mirror(reflecting: child.value)
  guard child.value is any Error, inner.displayStyle == .enum else { return label }
  return label + "." + caseName(child.value)
}

/// Runs a call `count` times concurrently and returns the results in order of completion.
func concurrently<T: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) async throws -> T
) async throws -> [T] {
  try await withThrowingTaskGroup(of: T.self) { group in
    for index in 0..<count { group.addTask { try await body(index) } }
    return try await group.reduce(into: []) { $0.append($1) }
  }
}

extension Sequence where Element: Hashable {
  /// The number of occurrences of each element.
  var tally: [Element: Int] { reduce(into: [:]) { $0[$1, default: 0] += 1 } }
}

/// Expects an outcome of a call.
///
/// Two closures in one function crash the compiler if only one of them is inside `#expect` (Swift
/// 6.3.1), so this function calls the closure outside it.
func expect<T>(
  _ expected: String, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: @Sendable () async throws -> T
) async {
  let outcome = await outcome(body)
  #expect(outcome == expected, sourceLocation: sourceLocation)
}

extension RemovalOutcome {
  var removal: Removal {
    switch self {
    case .done(let removal), .waits(let removal, _): removal
    case .requested: preconditionFailure("the pool is connected")
    }
  }
}

extension UserChangeOutcome {
  /// The number of sessions ended.
  var sessions: Int {
    switch self {
    case .done(let sessions): sessions
    case .requested: preconditionFailure("the pool is connected")
    }
  }
}
