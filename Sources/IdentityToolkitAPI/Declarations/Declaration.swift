import HTTP

/// The request and response of a method, declared once next to its code and used for both the route
/// and the OpenAPI document.
///
/// ```swift
/// extension Methods {
///   static let resetPassword = Declaration(
///     "accounts.resetPassword", "Sets a new password with an emailed code.",
///     takes: ["oobCode": .text.required, "newPassword": .text],
///     gives: ["kind": .kind("ResetPasswordResponse"), "email": .text, "requestType": .text])
/// }
/// ```
///
/// It omits what follows from the kind of route: credentials, `tenantId` and `targetProjectId`, and
/// the errors common to all calls of that kind.
struct Declaration: Sendable {
  /// The name in the document, in the style of Google's discovery documents: `accounts.lookup`.
  let id: String
  let summary: String
  /// The query parameters other than `key` and `tenantId`.
  let query: Schema
  let request: Schema?
  /// The request message as a form, if that is accepted too.
  let form: Schema?
  let response: Schema
  /// The statuses in addition to those of the kind of route.
  let failures: [Int]

  init(
    _ id: String, _ summary: String, query: Schema = [:], takes request: Schema? = nil,
    orForm form: Schema? = nil, gives response: Schema, failing failures: [Int] = []
  ) {
    self.id = id
    self.summary = summary
    self.query = query
    self.request = request
    self.form = form
    self.response = response
    self.failures = failures
  }
}

/// The member of a message with a token that determines the pool of a call that names none.
enum PoolToken: String, Sendable, CaseIterable {
  case idToken, refreshToken
  case pendingCredential = "mfaPendingCredential"
}

extension Declaration {
  /// The token that determines the pool of a call that names none; nil if the method reads
  /// none of them, whatever a message has.
  var poolToken: PoolToken? {
    PoolToken.allCases.first { token in
      request?.members.contains { $0.name == token.rawValue } ?? false
    }
  }
}

struct Operation: Sendable {
  enum Access: Sendable {
    case open
    /// Everyone, in the emulator profile only.
    case emulator
    case client
    case admin(BearerAction)
    /// Callers with a token or an API key, with different meanings.
    case either(BearerAction)

    var requiresToken: Bool {
      if case .admin = self { true } else { false }
    }
  }

  let id: String
  let method: Method
  let components: [PathComponent]
  let declaration: Declaration
  let access: Access
  let shape: ErrorShape
  var isDeprecated = false
  var isPage = false
}

extension Operation {
  /// The path in OpenAPI notation, `/v1/projects/{projectId}/accounts:lookup`, and the names of its
  /// parameters.
  ///
  /// A parameter is named after the plural noun before it.
  var path: (template: String, parameters: [String]) {
    var template = ""
    var parameters: [String] = []
    var word = "projects"
    for component in components {
      switch component {
      case .literal(let text):
        template += "/" + text
        word = text
      case .parameter(let suffix):
        let name = word.dropLast() + "Id"
        parameters.append(String(name))
        template += "/{\(name)}\(suffix)"
      }
    }
    return (template.isEmpty ? "/" : template, parameters)
  }

  /// The possible statuses of a response other than 200 and internal errors.
  var failures: [Int] {
    var statuses = Set(declaration.failures)
    switch access {
    case .open: break
    case .emulator: statuses.formUnion([400, 403])
    case .client, .admin, .either:
      statuses.formUnion([400, 401, 403, 503])
    }
    if declaration.request != nil { statuses.insert(413) }
    return statuses.sorted()
  }

  /// The message, including the members common to all calls of the kind.
  var request: Schema? {
    guard let request = declaration.request else { return nil }
    guard case .message(let own) = request.kind, isAboutUsers else { return request }
    var common: [(name: String, schema: Schema)] = [("tenantId", .text)]
    if case .admin = access {} else { common.append(("targetProjectId", .text)) }
    let added = common.filter { own[$0.name] == nil }
    return Schema(.message(Schema.Members(members: own.members + added)))
  }

  /// The query parameters, including those common to all calls of the kind.
  var query: [(name: String, schema: Schema)] {
    declaration.query.members + (isAboutUsers ? [(name: "tenantId", schema: .text)] : [])
  }

  /// Whether the message or query can name a tenant.
  private var isAboutUsers: Bool {
    switch access {
    case .open, .emulator: false
    case .client: true
    case .admin(let action), .either(let action): !action.isAboutTenants
    }
  }
}
