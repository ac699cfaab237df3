import HTTP
import Identity
import Text

/// A call by an application on behalf of one of its users.
///
/// It's identified by an API key, which isn't secret, so authorization depends on the passwords,
/// tokens, and codes in its message.
struct ClientCall: Sendable {
  let request: Request
  let project: ID<Project>
  /// The tenant in the message or query, or else that of a tenant's service token; nil without
  /// either, in which case a user's token determines it.
  let tenant: ID<Tenant>?
  let message: RequestMessage
  /// The end user's IP address: the one that a trusted backend forwards, or else that of the peer.
  let address: ClientAddress
  /// The holder of the call's bearer token, if that can change the users it's about.
  var holder: Operator?
  /// The pool that the call was counted for; nil without a limit.
  var counted: CountedPool?

  /// The author before the user is known.
  var visitor: Author { author(.visitor) }

  var origin: RequestOrigin {
    RequestOrigin(address: address.text, userAgent: request.fields[.userAgent] ?? "")
  }

  func author(_ actor: Actor) -> Author {
    var author = Author(actor: actor, address: address.text, requestID: request.id.text)
    author.isForwarded = address.isForwarded
    author.isOfBackend = holder != nil
    return author
  }
}

/// A call by a backend or an operator that is authorized for its pool.
struct AdminCall: Sendable {
  let request: Request
  let pool: Pool
  /// The pool's settings, if the call is about these.
  let settings: PoolSettings?
  let message: RequestMessage
  let author: Author
  /// The caller, because some response members require further permissions.
  let holder: Operator
}

extension AdminCall {
  /// Returns a query parameter; version 3 paths have it in the message.
  func parameter(_ name: String) throws(WireError) -> String? {
    if let text = request.parameter(name) { return text }
    return try message.text(name)
  }

  /// Returns whether the query or message specifies zero, for methods that don't treat it as unset.
  func asksForNone(_ name: String) throws(WireError) -> Bool {
    if let text = request.parameter(name) { return Int32(text) == 0 }
    return try message.int32(name) == 0
  }

  func pageSize(_ name: String, standard: Int, maximum: Int) throws(WireError) -> Int {
    if let size = try message.int32(name) {
      return size == 0 ? standard : size > 0 ? min(size, maximum) : maximum
    }
    return try request.pageSize(name, standard: standard, maximum: maximum)
  }
}

extension Request {
  /// Returns a query parameter in camel case or snake case; nil if it's missing.
  func parameter(_ name: String) -> String? {
    for entry in target.query.entries where Names.match(entry.name, name) {
      return entry.value.text
    }
    return nil
  }

  /// The update mask, whose paths can be in several parameters; empty if there are none, and nil
  /// without a parameter or with `*`, which stands for every member.
  var updateMask: String? {
    let texts = target.query.entries.filter { Names.match($0.name, "updateMask") }
      .map(\.value.text)
    guard !texts.isEmpty else { return nil }
    let mask = texts.filter { !$0.isEmpty }.joined(separator: ",")
    return mask.isSameBytes(as: "*") ? nil : mask
  }
}
