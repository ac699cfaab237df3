import HTTP

/// What a method takes and gives, said once beside its code: the route is made with it, and the
/// OpenAPI document is written from it.
///
/// ```swift
/// extension Declaration {
///   static let resetPassword = Declaration(
///     "accounts.resetPassword", "Sets a new password with a code that was mailed.",
///     takes: ["oobCode": .text.required, "newPassword": .text],
///     gives: ["kind": .kind("ResetPasswordResponse"), "email": .text, "requestType": .text])
/// }
/// ```
///
/// What follows from the kind of route is not repeated: credentials, `tenantId` and
/// `targetProjectId`, and the errors that every call of the kind can end with.
struct Declaration: Sendable {
  /// The name in the document, as Google's discovery documents build them: `accounts.lookup`.
  let id: String
  /// One sentence.
  let summary: String
  /// The parameters in the query, besides `key` and `tenantId`.
  let query: Schema
  /// The message; nil for a method that takes none.
  let request: Schema?
  /// The same as a form, where one is taken too.
  let form: Schema?
  let response: Schema
  /// Statuses besides those of the kind of route.
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

/// A route with its declaration.
struct Operation: Sendable {
  /// Who may call.
  enum Access: Sendable {
    /// Everybody.
    case open
    /// Everybody, in the emulator profile alone.
    case emulator
    /// Whoever shows an API key.
    case client
    /// Whoever holds a token with this right.
    case admin(Action)
    /// With a token it means one thing, with a key another.
    case either(Action)
  }

  let id: String
  let method: Method
  let components: [PathComponent]
  let declaration: Declaration
  let access: Access
  let shape: ErrorShape
  /// Whether there is a newer address for the same.
  var isDeprecated = false
  /// Whether the answer is something else than JSON: a page, or a way to another address.
  var isPage = false
}

extension Operation {
  /// The path as OpenAPI writes it, `/v1/projects/{projectId}/accounts:lookup`, and the names of
  /// its parameters.
  ///
  /// A parameter is called after the word before it, which is a plural.
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

  /// What a request may end with, besides 200 and what must not happen.
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

  /// The message with what every call of the kind understands.
  var request: Schema? {
    guard let request = declaration.request else { return nil }
    guard case .message(let own) = request.kind, isAboutUsers else { return request }
    var message = own
    var common: [(name: String, schema: Schema)] = [("tenantId", .text)]
    if case .admin = access {} else { common.append(("targetProjectId", .text)) }
    message.members += common.filter { new in !own.members.contains { $0.name == new.name } }
    return Schema(.message(message))
  }

  /// The parameters in the query, with what every call of the kind understands.
  var query: [(name: String, schema: Schema)] {
    declaration.query.members + (isAboutUsers ? [(name: "tenantId", schema: .text)] : [])
  }

  /// Whether the caller may name the tenant in message or query.
  private var isAboutUsers: Bool {
    switch access {
    case .open, .emulator: false
    case .client: true
    case .admin(let action), .either(let action): !action.isAboutTenants
    }
  }
}
