import HTTP
import Synchronization
import Testing

@testable import Console

/// A simulated browser, which stores cookies and sends the origin of forms.
final class Browser: Sendable {
  let world: World
  private let cookies = Mutex<[String: String]>([:])

  init(_ world: World) { self.world = world }

  /// A browser with a signed-in administrator who needs no re-authentication for the next 15
  /// minutes.
  static func signedIn(_ world: World, as email: String = World.ada) async throws -> Browser {
    let browser = Browser(world)
    let form = try await browser.get("/sign-in")
    let response = try await browser.post(
      "/sign-in", ["csrf": try form.csrf, "email": email, "password": World.password])
    guard response.status == .seeOther else { throw Missing("sign-in of \(email)") }
    try await world.reauthenticate()
    return browser
  }

  func get(_ address: String) async throws -> Answer {
    try await send(.get, address)
  }

  /// Sends a form as the console's own page would.
  func post(_ address: String, _ form: Form) async throws -> Answer {
    try await send(
      .post, address, form: form,
      fields: [.origin: world.origin, .secFetchSite: "same-origin"])
  }

  /// Opens a page, and sends its form with these fields, the CSRF token, the version of the settings,
  /// the IDs of the factors that the page shows, and whether it protects or unprotects a user.
  func submit(_ address: String, _ fields: Form, to: String? = nil) async throws -> Answer {
    var form = fields
    let page = try await get(address)
    form.add("csrf", try page.csrf)
    if let version = page.value(of: SettingsConflict.field) {
      form.add(SettingsConflict.field, version)
    }
    for field in ["enrollment", "protected"] {
      for value in page.allValues(of: field) { form.add(field, value) }
    }
    return try await post(to ?? address, form)
  }

  /// Sends a policy form as the review page's confirm button does.
  func save(_ policy: String, _ form: Form) async throws -> Answer {
    try await submit(policy, form, to: policy + "/changes")
  }

  /// Downloads a file that requires a form.
  func download(_ address: String) async throws -> Answer {
    try await post(address, ["csrf": try await get("/projects").csrf])
  }

  func send(
    _ method: Method, _ address: String, form: Form? = nil, fields: Fields = Fields(),
    body: [UInt8]? = nil
  ) async throws -> Answer {
    guard let target = Target(address) else { throw Missing("target \(address)") }
    var fields = fields
    if form != nil { fields[.contentType] = "application/x-www-form-urlencoded" }
    if fields[.cookie] == nil, !cookieField.isEmpty { fields[.cookie] = cookieField }
    let request = Request(
      method: method, target: target, fields: fields,
      body: body ?? form.map { Array($0.urlEncoded.utf8) } ?? [], peer: "192.0.2.9",
      id: RequestID(4711))
    let response = await world.console.respond(to: request)
    for line in response.fields.all(.setCookie) { keep(line) }
    return Answer(address: address, response: response)
  }

  /// The value of `Cookie` that the browser sends.
  var cookieField: String {
    cookies.withLock { $0 }.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "; ")
  }

  /// The session's cookie, as the browser sends it; nil before sign-in.
  var sessionCookie: String? {
    cookies.withLock { $0.first { $0.key.hasSuffix("countersign-session") } }
      .map { "\($0.key)=\($0.value)" }
  }

  /// Expects that the session has a new cookie, and that the old one is no longer valid.
  func expectNewSessionCookie(
    since old: String?, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let old = try #require(old, sourceLocation: sourceLocation)
    #expect(sessionCookie != nil && sessionCookie != old, sourceLocation: sourceLocation)
    let answer = try await Browser(world).send(.get, "/", fields: [.cookie: old])
    #expect(
      answer.status == .seeOther && answer.location?.hasPrefix("/sign-in") == true,
      sourceLocation: sourceLocation)
  }

  private func keep(_ line: String) {
    guard let pair = line.split(separator: ";").first, let equals = pair.firstIndex(of: "=") else {
      return
    }
    let name = String(pair[..<equals])
    let value = String(pair[pair.index(after: equals)...])
    cookies.withLock { $0[name] = line.contains("Max-Age=0") ? nil : value }
  }
}

/// A response, and the address of its request.
struct Answer: Sendable {
  let address: String
  let response: Response

  var status: Status { response.status }
  var location: String? { response.fields[.location] }
  var text: String { String(decoding: response.body.bytes, as: UTF8.self) }

  /// The CSRF token of the page's forms.
  var csrf: String {
    get throws {
      guard let token = value(of: "csrf") else { throw Missing("csrf in \(address)") }
      return token
    }
  }

  /// The value of the first field with a name.
  func value(of name: String) -> String? {
    guard let field = text.firstRange(of: "name=\"\(name)\" value=\"") else { return nil }
    return String(text[field.upperBound...].prefix { $0 != "\"" })
  }

  /// The value of the selected window, of the radio buttons that have an ID before it.
  var chosenIntervals: String? {
    values(of: "value").first { text.contains("id=\"intervals-\($0)\" value=\"\($0)\" checked") }
  }

  /// The values of all fields with a name.
  func allValues(of name: String) -> [String] {
    text.split(separator: "name=\"\(name)\" value=\"").dropFirst().map {
      String($0.prefix { $0 != "\"" })
    }
  }

  /// Whether the page's HTML contains a text.
  func says(_ words: String) -> Bool { text.contains(words) }

  /// Returns the IDs of the listed sessions, and expects that the button of each is described by its
  /// row.
  func sessionsWithOwnButtons() -> [String] {
    let ids = text.matches(of: /name="session" value="([0-9a-f]{24})"/).map { String($0.1) }
    for id in ids {
      #expect(says("<tr id=\"session-\(id)\">"))
      #expect(says("value=\"\(id)\" aria-describedby=\"session-\(id)\">"))
    }
    return ids
  }

  /// All values of an attribute.
  func values(of attribute: String) -> [String] {
    var rest = Substring(text)
    var values: [String] = []
    while let start = rest.firstRange(of: " \(attribute)=\"") {
      rest = rest[start.upperBound...]
      let value = rest.prefix { $0 != "\"" }
      values.append(String(value).replacing("&amp;", with: "&"))
      rest = rest[value.endIndex...]
    }
    return values
  }
}
