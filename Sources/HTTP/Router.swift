import Text

/// Finds and runs the handler of a request.
///
/// Routes form a tree of segments. When several paths match a URL, the most specific one wins: at
/// the first segment that differs, a literal before a parameter with a suffix, and a longer suffix
/// before a shorter one. A path whose parameters can't be parsed doesn't match. Only the winning
/// path is used: if it has no handler for the method, the response is 405 with `Allow`, even if a
/// less specific path has one. HEAD requests go to the GET handler unless there's a HEAD handler.
///
/// ```swift
/// var router = Router()
/// router.add(ConsolePaths.account.route(.get) { request, project, user in … })
/// let response = await router.respond(to: request) ?? notFound
/// ```
public struct Router: Sendable {
  /// Creates the 405 response; the router adds `Allow`.
  public typealias MethodNotAllowed = @Sendable (_ request: Request, _ allow: [Method]) -> Response

  /// All routes, in the order they were added.
  public private(set) var routes: [Route] = []
  private var nodes = [Node()]
  private let methodNotAllowed: MethodNotAllowed

  /// Creates a router without routes.
  public init(
    methodNotAllowed: @escaping MethodNotAllowed = { _, _ in
      .text("This address doesn't support this method.\n", status: .methodNotAllowed)
    }
  ) {
    self.methodNotAllowed = methodNotAllowed
  }

  /// Adds a route; traps when the method and path already have one.
  public mutating func add(_ route: Route) {
    var place = 0
    for component in route.components {
      if let next = nodes[place].child(component) {
        place = next
      } else {
        nodes.append(Node())
        nodes[place].add(component, leadingTo: nodes.count - 1)
        place = nodes.count - 1
      }
    }
    precondition(
      !nodes[place].routes.contains { $0.method == route.method }, "two routes for \(route)")
    nodes[place].routes.append(route)
    routes.append(route)
  }

  /// Returns the response to a request; nil when no path matches, so that the caller creates the
  /// 404.
  public func respond(to request: Request) async -> Response? {
    switch find(request, at: 0, depth: 0) {
    case .none: return nil
    case .answer(let answer, let label):
      var response = await answer()
      response.route = label
      return response
    case .wrongMethod(let allow):
      var response = methodNotAllowed(request, allow)
      response.fields[.allow] = allow.map(\.name).joined(separator: ", ")
      return response
    }
  }

  /// Returns the name of the route that handles a method of a URL.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - target: The URL.
  /// - Returns: The name; nil when no path matches, or the most specific one has no handler for the
  ///   method.
  public func label(_ method: Method, _ target: Target) -> Route.Label? {
    let request = Request(method: method, target: target)
    guard case .answer(_, let label) = find(request, at: 0, depth: 0) else { return nil }
    return label
  }

  private enum Finding {
    case none
    case answer(Route.Answer, Route.Label)
    case wrongMethod(allow: [Method])
  }

  private func find(_ request: Request, at place: Int, depth: Int) -> Finding {
    guard depth < request.target.segments.count else { return nodes[place].answer(request) }
    let segment = request.target.segments[depth]
    if let next = nodes[place].literals[segment] {
      let finding = find(request, at: next, depth: depth + 1)
      guard case .none = finding else { return finding }
    }
    for (suffix, next) in nodes[place].parameters where stem(of: segment, before: suffix) != nil {
      let finding = find(request, at: next, depth: depth + 1)
      guard case .none = finding else { return finding }
    }
    return .none
  }

  /// A node of the tree, with the children for the next segment.
  private struct Node {
    var literals: [UntrustedText: Int] = [:]
    /// Children for parameters, by suffix, longest first.
    var parameters: [(suffix: String, next: Int)] = []
    var routes: [Route] = []

    func child(_ component: PathComponent) -> Int? {
      switch component {
      case .literal(let text): literals[UntrustedText(text)]
      case .parameter(let suffix): parameters.first { $0.suffix == suffix }?.next
      }
    }

    mutating func add(_ component: PathComponent, leadingTo next: Int) {
      switch component {
      case .literal(let text): literals[UntrustedText(text)] = next
      case .parameter(let suffix):
        parameters.append((suffix, next))
        parameters.sort { $0.suffix.utf8.count > $1.suffix.utf8.count }
      }
    }

    func answer(_ request: Request) -> Finding {
      let exact = routes.first { $0.method == request.method }
      let route = exact ?? (request.method == .head ? routes.first { $0.method == .get } : nil)
      if let route {
        guard let answer = route.bind(request) else { return .none }
        return .answer(answer, route.label)
      }
      guard routes.contains(where: { $0.bind(request) != nil }) else { return .none }
      var allow = routes.map(\.method)
      if allow.contains(.get), !allow.contains(.head) { allow.append(.head) }
      return .wrongMethod(allow: allow.sorted { $0.name < $1.name })
    }
  }
}
