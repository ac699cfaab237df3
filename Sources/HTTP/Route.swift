/// The handler of a method and a path.
///
/// Created by `Path.route`, because the compiler (6.3.1) crashes on a closure over a generic
/// function's own parameter pack, but not when the pack belongs to the type. Modules with other
/// handler types extend `Path` in the same way.
public struct Route: Sendable {
  /// The name of a route in measurements.
  public struct Label: Hashable, Sendable {
    /// The method.
    public let method: Method
    /// The path with parameter types, such as `/projects/{ProjectID}`.
    public let pattern: String

    /// Creates a label.
    public init(_ method: Method, _ pattern: String) {
      self.method = method
      self.pattern = pattern
    }
  }

  /// A handler with its parameters bound, ready to run.
  public typealias Answer = @Sendable () async -> Response

  /// The method.
  public let method: Method
  /// The path with parameter types, such as `/projects/{ProjectID}`.
  public let pattern: String
  /// The segments of the path.
  public let components: [PathComponent]
  /// The name in measurements.
  public var label: Label { Label(method, pattern) }

  /// Binds the parameters of a request whose literal segments are known to match.
  let bind: @Sendable (Request) -> Answer?
}

extension Route {
  /// Creates a route whose handler gets every parameter as text, in order.
  public init(
    _ method: Method, _ components: [PathComponent],
    _ handler: @escaping @Sendable (Request, [String]) async -> Response
  ) {
    let segments = components.map { component in
      switch component {
      case .literal(let text): text
      case .parameter(let suffix): "{String}" + suffix
      }
    }
    self.init(
      method: method, pattern: "/" + segments.joined(separator: "/"), components: components,
      bind: { request in
        var texts: [String] = []
        for (component, segment) in zip(components, request.target.segments) {
          guard case .parameter(let suffix) = component else { continue }
          guard let text = stem(of: segment, before: suffix), let read = String(pathSegment: text)
          else { return nil }
          texts.append(read)
        }
        return { [texts] in await handler(request, texts) }
      })
  }
}

extension Path {
  /// Creates a route for a method of this path.
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

extension Route: CustomStringConvertible {
  /// The method and the path, such as `GET /projects/{ProjectID}`.
  public var description: String { "\(method) \(pattern)" }
}
