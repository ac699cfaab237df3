import HTTP
import Identity
import Localization

/// A request that doesn't require a session.
struct Visitor: Sendable {
  let request: Request
  /// The submitted form; empty for GET requests.
  let form: Form
  /// The token that proves a form came from the console; it's in the form cookie and in the form.
  let formToken: String
  /// Whether the browser already has the form cookie.
  let hasFormToken: Bool
}

extension Preferences.Theme {
  /// The value of the page's attribute; nil to match the system.
  var attribute: String? { self == .system ? nil : rawValue }
}

/// A request of a signed-in administrator.
struct SignedIn: Sendable {
  let request: Request
  /// The submitted form, checked to come from a page of this session; empty for GET requests.
  let form: Form
  let session: ConsoleSession
  /// The number of requests that await the administrator's approval; nil without the permission to
  /// see them.
  let approvals: Int?
  /// The catalog of the request's locale.
  let catalog: Catalog

  var administrator: Administrator { session.administrator }

  /// Formats dates and times for the administrator.
  var times: Times { Times(catalog, zone: session.preferences.timeZone) }

  /// The theme that the administrator chose; nil to match the system.
  var theme: String? { session.preferences.theme.attribute }

  var actor: Actor { .administrator(administrator.id, name: administrator.displayName) }

  /// The author of audit entries.
  var author: Author {
    Author(actor: actor, address: request.peer, requestID: request.id.text)
  }

  /// The query of the request's address.
  var query: Form { request.target.query }
}
