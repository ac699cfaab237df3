import Crypto
import HTTP
import Identity
import Synchronization
import Text

/// The console's cookies: for sessions, for forms before sign-in, for sign-ins that still require a
/// code, for sign-ins with the provider, for known devices, for the message on the next page, for
/// forms that are kept, for the authenticator app that a page sets up, and for the theme, the platform
/// of the guides, and the columns of the list of users.
///
/// Over HTTPS, their names begin with `__Host-`, so that browsers reject them from any other host
/// and without `Secure`, or with `__Secure-` if they're for one page. The session cookie is `Lax`, because a link to a page in an email would
/// otherwise open signed out. Forms are protected by their own token and by `Origin`, not by
/// `SameSite`. The cookie of a sign-in with the provider is `Lax` because the provider leads back, and
/// so is the one of the message on the page after it. That of a page that sets up an app is `Lax`,
/// because an email leads to it. The other cookies are `Strict`.
struct ConsoleCookies: Sendable {
  private let session: String
  private let form: String
  private let pending: String
  private let provider: String
  private let device: String
  private let theme: String
  private let columns: String
  private let draft: String
  private let enrollment: String
  let flashName: String
  /// The cookie of the platform that guides show samples for; the console's script sets it as well.
  let platform: String
  private let isSecure: Bool

  init(publicURL: PublicURL) {
    isSecure = publicURL.isSecure
    session = (isSecure ? "__Host-" : "") + "countersign-session"
    form = (isSecure ? "__Host-" : "") + "countersign-form"
    pending = (isSecure ? "__Host-" : "") + "countersign-pending"
    provider = (isSecure ? "__Host-" : "") + "countersign-provider"
    device = (isSecure ? "__Host-" : "") + "countersign-device-"
    theme = (isSecure ? "__Host-" : "") + "countersign-theme"
    columns = (isSecure ? "__Host-" : "") + "countersign-columns"
    draft = (isSecure ? "__Host-" : "") + "countersign-draft"
    enrollment = (isSecure ? "__Secure-" : "") + "countersign-enrollment"
    flashName = (isSecure ? "__Host-" : "") + "countersign-flash"
    platform = (isSecure ? "__Host-" : "") + "countersign-platform"
  }

  func sessionToken(of request: Request) -> String? {
    request.cookies[session]?.text(atMost: Self.longestToken)
  }

  /// The token in the form cookie; nil if it's missing or doesn't have the length of a form token.
  func formToken(of request: Request) -> String? {
    guard let token = request.cookies[form], token.byteCount == Self.tokenLength else {
      return nil
    }
    return token.text
  }

  /// Generates a form token: 128 random bits as 32 hexadecimal digits.
  func newFormToken() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(generator.next(), radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }

  func session(_ token: String) -> Cookie {
    Cookie(name: session, value: token, secure: isSecure, sameSite: .lax)
  }

  func form(_ token: String) -> Cookie {
    Cookie(name: form, value: token, secure: isSecure, sameSite: .strict)
  }

  /// The token of a sign-in whose password was accepted and whose code is still required.
  func pending(of request: Request) -> String? {
    request.cookies[pending]?.text(atMost: Self.longestToken)
  }

  func pending(_ text: String) -> Cookie {
    Cookie(name: pending, value: text, secure: isSecure, sameSite: .strict, maxAge: 600)
  }

  /// Redirects to the second step of a sign-in.
  func askForFactor(
    _ pending: Secret, _ methods: Set<ReauthenticationMethod>, thenTo next: String?
  ) -> Response {
    let path =
      methods.contains(.totp) ? ConsolePaths.signInCode() : ConsolePaths.signInCodePasskey()
    var response = Response.redirect(to: ReturnAddress.of(path, backTo: next))
    response.set(self.pending(pending.revealedText))
    return response
  }

  func endPending() -> Response {
    var response = Response.redirect(to: (["ended": "1"] as Form).query(of: ConsolePaths.signIn()))
    response.set(pending("").ended)
    return response
  }

  func provider(of request: Request) -> (ticket: String, next: String?)? {
    guard let text = request.cookies[provider]?.text(atMost: Self.longestToken) else { return nil }
    let parts = text.split(separator: ".", maxSplits: 1)
    guard let ticket = parts.first else { return nil }
    let next = parts.count == 2 ? Base64URL.decode(parts[1]) : nil
    return (String(ticket), next.map { String(decoding: $0, as: UTF8.self) })
  }

  func provider(_ ticket: String, next: String?) -> Cookie {
    let next = next.map { "." + Base64URL.encode(Array($0.utf8)) } ?? ""
    return Cookie(
      name: provider, value: ticket + next, secure: isSecure, sameSite: .lax, maxAge: 600)
  }

  /// The device tokens that the browser has from earlier sign-ins of any administrator.
  func devices(of request: Request) -> [String] {
    request.cookies.all(startingWith: device).compactMap { $0.text(atMost: Self.longestToken) }
  }

  /// Each administrator has a separate cookie.
  func device(_ token: String, of administrator: ID<Administrator>) -> Cookie {
    let digest = HashFunction.sha256.digest(Array(administrator.text.utf8))
    return Cookie(
      name: device + Hex.encode(Array(digest.prefix(4))), value: token, secure: isSecure,
      sameSite: .strict, maxAge: Int(ConsoleSessions.deviceLifetime))
  }

  /// The platform of the guides that the reader chose last.
  func platform(of request: Request) -> String? {
    request.cookies[platform]?.text(atMost: Self.longestToken)
  }

  func platform(_ name: String) -> Cookie {
    Cookie(
      name: platform, value: name, httpOnly: false, secure: isSecure,
      sameSite: .strict, maxAge: 365 * 86_400)
  }

  /// The theme of pages without a session: that of the administrator who last signed in or chose one.
  func theme(of request: Request) -> Preferences.Theme? {
    request.cookies[theme]?.text(atMost: Self.longestToken)
      .flatMap(Preferences.Theme.init(rawValue:))
  }

  /// The cookie that remembers a theme; nil if the browser already has it.
  func newTheme(_ theme: Preferences.Theme, for request: Request) -> Cookie? {
    guard (self.theme(of: request) ?? .system) != theme else { return nil }
    return Cookie(
      name: self.theme, value: theme.rawValue, secure: isSecure, sameSite: .strict,
      maxAge: 365 * 86_400)
  }

  func columns(of request: Request) -> String? {
    request.cookies[columns]?.text(atMost: Self.longestToken)
  }

  func columns(_ names: String) -> Cookie {
    Cookie(
      name: columns, value: names, secure: isSecure, sameSite: .strict, maxAge: 365 * 86_400)
  }

  func flash(of request: Request) -> String? {
    request.cookies[flashName]?.text(atMost: Self.longestToken)
  }

  func flash(_ sealed: String) -> Cookie {
    Cookie(
      name: flashName, value: sealed, secure: isSecure, sameSite: .lax,
      maxAge: Int(ConsoleStorage.noticeLifetime))
  }

  func draft(of request: Request) -> String? {
    request.cookies[draft]?.text(atMost: Self.longestToken)
  }

  func draft(_ marks: ArraySlice<Drafts.Mark>) -> Cookie {
    Cookie(
      name: draft, value: marks.map(\.text).joined(separator: "."), secure: isSecure,
      sameSite: .strict,
      maxAge: Int(ConsoleStorage.Kind.draft.lifetime))
  }

  /// The encrypted secret of the authenticator app that the page of a path showed this browser.
  func enrollment(of request: Request) -> String? {
    request.cookies[enrollment]?.text(atMost: Self.longestToken)
  }

  /// Keeps the encrypted secret for the page, so that the page shows the same one again.
  func enrollment(_ ticket: Secret, on path: String) -> Cookie {
    Cookie(
      name: enrollment, value: ticket.revealedText, path: path, secure: isSecure, sameSite: .lax,
      maxAge: 900)
  }

  private static let tokenLength = 32
  private static let longestToken = 4_096
}

extension ConsoleCookies {
  /// Returns the page with the form cookie if the browser doesn't have it, so that it matches the
  /// page's form.
  func keeping(_ visitor: Visitor, in page: Response) -> Response {
    var response = page
    if !visitor.hasFormToken { response.set(form(visitor.formToken)) }
    return response
  }
}

extension Cookie {
  /// The cookie that removes it from the browser.
  var ended: Cookie {
    var cookie = self
    (cookie.value, cookie.maxAge) = ("", 0)
    return cookie
  }
}

extension Response {
  mutating func set(_ cookie: Cookie) { fields.add(.setCookie, cookie.description) }
}

/// Cookies that parts of a page add to its response, wherever the response is created.
final class ResponseCookies: Sendable {
  @TaskLocal static var current: ResponseCookies?

  private let cookies = Mutex<[Cookie]>([])

  /// Adds a cookie, replacing one with the same name.
  func set(_ cookie: Cookie) {
    cookies.withLock { cookies in
      cookies.removeAll { $0.name == cookie.name }
      cookies.append(cookie)
    }
  }

  func has(_ name: String) -> Bool { cookies.withLock { $0.contains { $0.name == name } } }

  func apply(to response: inout Response) {
    for cookie in cookies.withLock({ $0 }) {
      response.set(cookie)
    }
  }
}
