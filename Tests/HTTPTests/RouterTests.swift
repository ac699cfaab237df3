import HTTP
import Testing

struct RouterTests {
  private static let router: Router = {
    var router = Router { request, allow in
      .text("not \(request.method), but \(allow.count)", status: .methodNotAllowed)
    }
    router.on(.get, Paths.home) { _ in .text("home") }
    router.on(.get, Paths.account) { _, project, user in .text("\(project.pathSegment) \(user)") }
    router.on(.post, Paths.account) { request, _, user in
      await Task.yield()
      return .text("\(user) \(request.body.count)", status: Status(201))
    }
    router.on(.get, Path("projects", nil, "accounts", "new", parameters: ProjectID.self)) { _, _ in
      .text("new")
    }
    router.on(.get, Paths.page) { _, page in .text("page \(page.value)") }
    router.on(.post, Paths.lookup) { _, project in .text("lookup \(project.pathSegment)") }
    router.on(.post, Paths.cookie) { _, project in .text("cookie \(project.pathSegment)") }
    router.on(.get, Path("v1", "projects", nil, parameters: ProjectID.self)) { _, project in
      .text("project \(project.pathSegment)")
    }
    router.add(
      Route(.get, ["texts", nil, .parameter(suffix: ":x")]) { _, texts in
        .text(texts.joined(separator: " "))
      })
    router.on(.head, Path("probe")) { _ in .noContent }
    router.on(.get, Path("probe")) { _ in .text("get") }
    return router
  }()

  private func answer(_ method: HTTP.Method, _ text: String) async throws -> Response? {
    let target = try #require(Target(text))
    let request = Request(method: method, target: target, body: [1, 2])
    return await RouterTests.router.respond(to: request)
  }

  @Test(
    arguments: [
      (.get, "/", "home"), (.get, "/?x=1", "home"), (.get, "/projects/p/accounts/a%2Fb", "p a/b"),
      (.post, "/projects/p/accounts/a", "a 2"), (.get, "/projects/p/accounts/new", "new"),
      (.get, "/pages/12", "page 12"), (.post, "/v1/projects/p/accounts:lookup", "lookup p"),
      (.post, "/v1/projects/p%3AcreateSessionCookie", "cookie p"),
      (.get, "/v1/projects/p", "project p"),
      (.get, "/v1/projects/p:other", "project p:other"), (.get, "/texts/a%2Fb/c:x", "a/b c"),
    ] as [(HTTP.Method, String, String)])
  func `the most specific route is used`(
    _ method: HTTP.Method, _ text: String, _ expected: String
  ) async throws {
    let response = try #require(try await answer(method, text))
    #expect(String(decoding: response.body.bytes, as: UTF8.self) == expected)
  }

  @Test(arguments: [
    "/x", "//", "/projects", "/projects/p/accounts/a/", "/pages/x", "/projects/p!/accounts/a",
    "/v1/projects/", "/v1/projects//accounts:lookup", "/texts//c:x", "/texts/a/:x",
  ])
  func `an unmatched path is left to the caller`(_ text: String) async throws {
    #expect(try await answer(.get, text) == nil)
    #expect(try await answer(.post, text) == nil)
    #expect(try await answer(.head, text) == nil)
  }

  @Test(
    arguments: [
      (.delete, "/", "GET, HEAD"), (.put, "/projects/p/accounts/a", "GET, HEAD, POST"),
      (.get, "/v1/projects/p:createSessionCookie", "POST"), (.post, "/pages/3", "GET, HEAD"),
      (.head, "/v1/projects/p/accounts:lookup", "POST"),
      (.post, "/projects/p/accounts/new", "GET, HEAD"),
      (.options, "/probe", "GET, HEAD"), (HTTP.Method("get"), "/", "GET, HEAD"),
    ] as [(HTTP.Method, String, String)])
  func `an unsupported method is refused with the allowed ones`(
    _ method: HTTP.Method, _ text: String, _ allow: String
  ) async throws {
    let response = try #require(try await answer(method, text))
    #expect(response.status == .methodNotAllowed)
    #expect(response.fields.all(.allow) == [allow])
    #expect(String(decoding: response.body.bytes, as: UTF8.self).hasPrefix("not \(method)"))
  }

  @Test func `the label of the most specific route is found`() throws {
    let target = try #require(Target("/projects/p/accounts/new"))
    #expect(
      Self.router.label(.get, target)?.pattern == "/projects/{ProjectID}/accounts/new")
    #expect(Self.router.label(.post, target) == nil)
  }

  @Test func `HEAD uses the GET handler unless it has its own`() async throws {
    #expect(try await answer(.head, "/pages/3")?.body.count == 6)
    #expect(try await answer(.head, "/probe")?.status == .noContent)
    #expect(try await answer(.get, "/probe")?.status == .ok)
  }

  @Test func `a duplicate route stops the program`() async {
    await #expect(processExitsWith: .failure) {
      var router = Router()
      router.on(.get, Path("a", nil, parameters: String.self)) { _, _ in .noContent }
      router.on(.get, Path("a", nil, parameters: Number.self)) { _, _ in .noContent }
    }
  }

  @Test(arguments: 0..<120)
  func `every one of many routes is found`(_ index: Int) async throws {
    var router = Router()
    for number in 0..<120 {
      router.on(
        .get, Path("v1", nil, .literal("noun\(number)"), nil, parameters: String.self, Number.self)
      ) { _, _, last in .text("\(number) \(last.value)") }
    }
    let target = try #require(Target("/v1/x/noun\(index)/5"))
    let response = await router.respond(to: Request(target: target))
    #expect(response?.body.bytes == Array("\(index) 5".utf8))
  }
}

extension Router {
  mutating func on<each Parameter: PathParameter>(
    _ method: Method, _ path: Path<repeat each Parameter>,
    _ handler: @escaping @Sendable (Request, repeat each Parameter) async -> Response
  ) {
    add(path.route(method, handler))
  }
}
