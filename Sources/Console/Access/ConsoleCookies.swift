import HTTP
import Identity

/// The console's cookies: of the session, of forms, between password and code, and of devices.
///
/// Over https their names begin with `__Host-`, which makes browsers refuse them from any other
/// host and without `Secure`. The session's cookie is `Lax`: people mail addresses of pages to each
/// other, and with `Strict` such a link would arrive signed out. Forms are protected by their own
/// token and by `Origin`, not by this. The form cookie of sign-in and set-up needs no
/// such grace, and neither do the one between password and code and those of devices.
struct ConsoleCookies: Sendable {
  private let session: String
  private let form: String
  private let pending: String
  private let device: String
  private let isSecure: Bool

  init(publicURL: PublicURL) {
    isSecure = publicURL.isSecure
    session = (isSecure ? "__Host-" : "") + "countersign-session"
    form = (isSecure ? "__Host-" : "") + "countersign-form"
    pending = (isSecure ? "__Host-" : "") + "countersign-pending"
    device = (isSecure ? "__Host-" : "") + "countersign-device-"
  }

  func sessionToken(of request: Request) -> String? {
    request.cookies[session]?.text(atMost: Self.longestToken)
  }

  /// The token in the form cookie, when it is one of ours by its looks.
  func formToken(of request: Request) -> String? {
    guard let token = request.cookies[form], token.byteCount == Self.tokenLength else {
      return nil
    }
    return token.text
  }

  /// 128 bits from the system's generator, as 32 hexadecimal digits.
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

  /// Takes the session's cookie back.
  var endOfSession: Cookie {
    Cookie(name: session, value: "", secure: isSecure, sameSite: .lax, maxAge: 0)
  }

  /// What a right password gave, as long as the code is due.
  func pending(of request: Request) -> String? {
    request.cookies[pending]?.text(atMost: Self.longestToken)
  }

  func pending(_ text: String) -> Cookie {
    Cookie(name: pending, value: text, secure: isSecure, sameSite: .strict, maxAge: 600)
  }

  /// Takes the cookie between password and code back.
  var endOfPending: Cookie {
    Cookie(name: pending, value: "", secure: isSecure, sameSite: .strict, maxAge: 0)
  }

  /// What the browser was given at earlier sign-ins, by whichever administrators.
  func devices(of request: Request) -> [String] {
    request.cookies.all(startingWith: device).compactMap { $0.text(atMost: Self.longestToken) }
  }

  /// Lets the browser be known as a device of an administrator, each of whom has a cookie.
  func device(_ token: String, of administrator: ID<Administrator>) -> Cookie {
    let digest = HashFunction.sha256.digest(Array(administrator.text.utf8))
    return Cookie(
      name: device + Hex.encode(Array(digest.prefix(4))), value: token, secure: isSecure,
      sameSite: .strict, maxAge: Int(ConsoleSessions.deviceLifetime))
  }

  private static let tokenLength = 32
  private static let longestToken = 4_096
}

extension ConsoleCookies {
  /// Sees that the browser has the token that stands in the page's form.
  func keep(_ visitor: Visitor, in response: inout Response) {
    guard !visitor.hasFormToken else { return }
    response.fields.add(.setCookie, form(visitor.formToken).description)
  }
}
