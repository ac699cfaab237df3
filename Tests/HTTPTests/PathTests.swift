import HTTP
import Testing
import Text

struct ProjectID: PathParameter, Equatable {
  let pathSegment: String

  init?(pathSegment: UntrustedText) {
    guard !pathSegment.isEmpty, pathSegment.utf8.allSatisfy({ $0 != UInt8(ascii: "!") }) else {
      return nil
    }
    self.pathSegment = pathSegment.text
  }
}

struct Number: PathParameter, Equatable {
  let value: Int

  init(_ value: Int) { self.value = value }

  init?(pathSegment: UntrustedText) {
    guard let value = Int(pathSegment.text) else { return nil }
    self.value = value
  }

  var pathSegment: String { String(value) }
}

enum Paths {
  static let home = Path()
  static let health = Path("healthz")
  static let account = Path(
    "projects", nil, "accounts", nil, parameters: ProjectID.self, String.self)
  static let page = Path("pages", nil, parameters: Number.self)
  static let lookup = Path("v1", "projects", nil, "accounts:lookup", parameters: ProjectID.self)
  static let cookie = Path(
    "v1", "projects", .parameter(suffix: ":createSessionCookie"), parameters: ProjectID.self)
  static let delete = Path(
    "v1", "projects", nil, "accounts", .parameter(suffix: ":delete"),
    parameters: ProjectID.self, String.self)
}

struct PathTests {
  @Test(arguments: [
    "a", "a9", "ann@example.com", "a/b", "..%2F", "%", "%2F", "a b", "ä", "日本", ":delete",
    "x:delete",
    "?q=1", "#", "a+b", "~", "\u{1}", "😀", ";=,&",
  ])
  func `a link matches the parameters it was built from`(_ user: String) throws {
    let project = try #require(ProjectID(pathSegment: "p/1:x"))
    let link = Paths.account(project, user)
    let target = try #require(Target(link))
    let found = try #require(Paths.account.match(target))
    #expect(found == (project, user))
    #expect(target.segments.count == 4)
    #expect(link.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") })
  }

  @Test(arguments: ["a", "x:delete", "a/b", ":", "ä"])
  func `a suffix is separated from the parameter before it`(_ user: String) throws {
    let project = try #require(ProjectID(pathSegment: "p"))
    let link = Paths.delete(project, user)
    #expect(link.hasSuffix(":delete"))
    let target = try #require(Target(link))
    let found = try #require(Paths.delete.match(target))
    #expect(found == (project, user))
  }

  @Test func `links are written as declared`() throws {
    let project = try #require(ProjectID(pathSegment: "p1"))
    #expect(Paths.home() == "/")
    #expect(Paths.health() == "/healthz")
    #expect(Paths.page(Number(7)) == "/pages/7")
    #expect(Paths.lookup(project) == "/v1/projects/p1/accounts:lookup")
    #expect(Paths.cookie(project) == "/v1/projects/p1:createSessionCookie")
    #expect(Paths.account(project, "a b/c") == "/projects/p1/accounts/a%20b%2Fc")
  }

  @Test func `patterns contain the parameter types`() {
    #expect(Paths.home.pattern == "/")
    #expect(Paths.account.pattern == "/projects/{ProjectID}/accounts/{String}")
    #expect(Paths.delete.pattern == "/v1/projects/{ProjectID}/accounts/{String}:delete")
  }

  @Test(arguments: [
    "/v1/projects/p1/accounts:lookup", "/v1/projects/p1/accounts%3Alookup",
    "/v1/projects/p1/accounts%3alookup", "http://127.0.0.1:9099/v1/projects/p1/accounts:lookup",
  ])
  func `an encoded colon matches a colon`(_ text: String) throws {
    let target = try #require(Target(text))
    let project = try #require(Paths.lookup.match(target))
    #expect(project.pathSegment == "p1")
  }

  @Test(arguments: [
    "/projects/p1/accounts", "/projects/p1/accounts/", "/projects/p1/accounts/a/",
    "/projects//accounts/a",
    "/projects/p%211/accounts/a", "//projects/p1/accounts/a", "/projects/p1/ACCOUNTS/a", "/",
    "/projects/p1/accounts/a/b", "/projects/p1/x/../accounts/a",
  ])
  func `a path that differs in any segment doesn't match`(_ text: String) throws {
    let target = try #require(Target(text))
    #expect(Paths.account.match(target) == nil)
  }

  @Test(arguments: ["/pages/x", "/pages/", "/pages/1.0", "/pages"])
  func `an invalid parameter doesn't match`(_ text: String) throws {
    let target = try #require(Target(text))
    #expect(Paths.page.match(target) == nil)
  }

  @Test(arguments: ["/v1/projects/:createSessionCookie", "/v1/projects/p1", "/v1/projects/p1:x"])
  func `a suffix requires a nonempty parameter`(_ text: String) throws {
    let target = try #require(Target(text))
    #expect(Paths.cookie.match(target) == nil)
  }

  @Test func `a missing parameter type stops the program`() async {
    await #expect(processExitsWith: .failure) { _ = Path("a", nil) }
  }
}
