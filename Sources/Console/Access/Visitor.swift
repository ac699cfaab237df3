import HTTP
import Identity
import Localization

/// A request that doesn't require a session.
struct Visitor: Sendable {
  let request: Request
  let form: Form
  /// The token that proves a form came from the console; it's in the form cookie and in the form.
  let formToken: String
  let hasFormToken: Bool
}

extension Preferences.Theme {
  var attribute: String? { self == .system ? nil : rawValue }
}

struct SignedIn: Sendable {
  let request: Request
  /// The submitted form, checked to come from a page of this session; empty for GET requests.
  let form: Form
  let session: ConsoleSession
  let catalog: Catalog

  var administrator: Administrator { session.administrator }

  var times: Times { Times(catalog, zone: session.preferences.timeZone) }

  var theme: String? { session.preferences.theme.attribute }

  var actor: Actor { .administrator(administrator.id, name: administrator.displayName) }

  var author: Author {
    Author(actor: actor, address: request.peer, requestID: request.id.text)
  }

  var query: Form { request.target.query }
}
