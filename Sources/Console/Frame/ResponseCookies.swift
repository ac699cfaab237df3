import HTTP
import Synchronization

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
      response.fields.add(.setCookie, cookie.description)
    }
  }
}
