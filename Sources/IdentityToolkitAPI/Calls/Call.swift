import HTTP
import Identity

/// A call by an application for one of its users.
///
/// It showed an API key, which is no secret: what it may do hangs on passwords, tokens and codes
/// in its message.
struct ClientCall: Sendable {
  let request: Request
  /// The project of the API key.
  let project: ID<Project>
  /// The tenant that the message or the query names; nil when neither does, and a token says.
  let tenant: ID<Tenant>?
  let message: Message
  /// Where the end user's request came from: what a trusted back end says, or else the peer.
  let address: String
  /// Whether it showed a token too that may change the users it is about.
  var isTrusted = false

  /// The author of what is done before anybody is known.
  var visitor: Author { author(.nobody) }

  /// Where it came from, for what is kept of codes.
  var origin: RequestOrigin {
    RequestOrigin(address: address, userAgent: request.fields[.userAgent] ?? "")
  }

  func author(_ actor: Actor) -> Author {
    Author(actor: actor, address: address, requestID: request.id.text)
  }
}

/// A call by a back end or an operator, with the right to make it for this scope.
struct AdminCall: Sendable {
  let request: Request
  let scope: Scope
  let message: Message
  let author: Author
  /// Who calls, for what only some of those who may call are told.
  let holder: Operator
}

extension AdminCall {
  /// A parameter of the query; the older addresses have it in the message.
  func parameter(_ name: String) throws(WireError) -> String? {
    if let text = request.parameter(name) { return text }
    return try message.text(name)
  }

  /// Whether the query or the message says zero, where others leave it to the server.
  func asksForNone(_ name: String) throws(WireError) -> Bool {
    if let text = request.parameter(name) { return Int32(text) == 0 }
    return try message.int32(name) == 0
  }

  /// How many elements to list, from the query or the message.
  func pageSize(_ name: String, standard: Int, maximum: Int) throws(WireError) -> Int {
    if let size = try message.int32(name) {
      return size == 0 ? standard : size > 0 ? min(size, maximum) : maximum
    }
    return try request.pageSize(name, standard: standard, maximum: maximum)
  }
}

extension Request {
  /// A query parameter, in camel case or snake case; nil when it is not there.
  func parameter(_ name: String) -> String? {
    for entry in target.query.entries where Names.match(entry.name, name) {
      return entry.value.text
    }
    return nil
  }
}
