/// What answers one method of one path.
///
/// Made by `Path.route`, because the compiler (6.3.1) fails on a closure over a generic function's
/// own parameter pack, and does not where the pack belongs to the type. A surface that wants
/// handlers of another shape extends `Path` in the same way.
public struct Route: Sendable {
  /// A handler with its parameters read: what is left is to run it.
  public typealias Answer = @Sendable () async -> Response

  /// The method it answers.
  public let method: Method
  /// The path as people read it, such as `/projects/{ProjectID}`.
  public let pattern: String
  /// The segments of the path.
  public let components: [PathComponent]
  /// Reads the parameters of a request whose words are known to fit.
  let bind: @Sendable (Request) -> Answer?
}

extension Path {
  /// The route that answers a method of this path.
  public func route(
    _ method: Method,
    _ handler: @escaping @Sendable (Request, repeat each Parameter) async -> Response
  ) -> Route {
    Route(
      method: method, pattern: pattern, components: components,
      bind: { request in
        guard let parameter = read(request.target.segments) else { return nil }
        return { await handler(request, repeat each parameter) }
      })
  }
}

extension Route {
  /// Whether some URL is one of both routes' paths, whatever their methods.
  ///
  /// A router takes the more exact path then; where that is not meant, a test can ask.
  public func overlaps(_ other: Route) -> Bool {
    components.count == other.components.count
      && zip(components, other.components).allSatisfy { one, other in
        switch (one, other) {
        case (.literal(let one), .literal(let other)): one == other
        case (.parameter(let suffix), .literal(let text)),
          (.literal(let text), .parameter(let suffix)):
          text.hasSuffix(suffix) && text.utf8.count > suffix.utf8.count
        case (.parameter(let one), .parameter(let other)):
          one.hasSuffix(other) || other.hasSuffix(one)
        }
      }
  }
}

extension Route: CustomStringConvertible {
  /// The method and the path, such as `GET /projects/{ProjectID}`.
  public var description: String { "\(method) \(pattern)" }
}
