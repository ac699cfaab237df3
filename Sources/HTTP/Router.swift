/// Finds the handler of a request.
///
/// Routes stand in a tree of segments. Where several paths fit a URL the more exact one has it: a
/// word before a parameter with a suffix, a longer suffix before a shorter, the first segment that
/// differs deciding. A path whose parameters cannot be read does not fit. The path that fits
/// decides alone: when it has no handler for the method, the answer is 405 with `Allow`, even if a
/// less exact path had one. HEAD is answered by the handler of GET when it has none of its own.
///
/// ```swift
/// var router = Router()
/// router.on(.get, ConsolePaths.account) { request, project, user in … }
/// let response = await router.respond(to: request) ?? notFound
/// ```
public struct Router: Sendable {
  /// Makes the answer 405; the router adds `Allow` to it.
  public typealias MethodNotAllowed = @Sendable (_ request: Request, _ allow: [Method]) -> Response

  /// Every route, in the order of registration.
  public private(set) var routes: [Route] = []
  private var nodes = [Node()]
  private let methodNotAllowed: MethodNotAllowed

  /// Makes a router without routes.
  public init(
    methodNotAllowed: @escaping MethodNotAllowed = { _, _ in
      .text("This address does not take that method.\n", status: .methodNotAllowed)
    }
  ) {
    self.methodNotAllowed = methodNotAllowed
  }

  /// Lets a handler answer a method of a path.
  public mutating func on<each Parameter: PathParameter>(
    _ method: Method, _ path: Path<repeat each Parameter>,
    _ handler: @escaping @Sendable (Request, repeat each Parameter) async -> Response
  ) {
    add(path.route(method, handler))
  }

  /// Adds a route; a second one for the same method and path is a mistake and traps.
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

  /// The answer to a request, or nothing when no path fits (404 is for the caller to shape).
  public func respond(to request: Request) async -> Response? {
    switch find(request, at: 0, depth: 0) {
    case .none: return nil
    case .answer(let answer): return await answer()
    case .wrongMethod(let allow):
      var response = methodNotAllowed(request, allow)
      response.fields[.allow] = allow.map(\.name).joined(separator: ", ")
      return response
    }
  }

  private enum Finding {
    case none
    case answer(Route.Answer)
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

  /// One place in the tree: what has been read so far, and where each next segment leads.
  private struct Node {
    var literals: [UntrustedText: Int] = [:]
    /// By suffix, the longest first.
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
        return .answer(answer)
      }
      guard routes.contains(where: { $0.bind(request) != nil }) else { return .none }
      var allow = routes.map(\.method)
      if allow.contains(.get), !allow.contains(.head) { allow.append(.head) }
      return .wrongMethod(allow: allow.sorted { $0.name < $1.name })
    }
  }
}
