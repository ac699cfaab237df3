import HTTP
import Identity
import JSON
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

enum Body {
  /// Parses the message of a request.
  ///
  /// A missing body is an empty message, except for PATCH, where it's rejected: together with a
  /// mask it would clear every member in the mask.
  static func message(of request: Request) throws(WireError) -> RequestMessage {
    guard request.method == .post || request.method == .patch else { return RequestMessage() }
    guard !request.body.isEmpty else {
      if request.method == .patch { throw .payload("The request has no body.") }
      return RequestMessage()
    }
    guard isJSON(request) else {
      throw .payload("The Content-Type of the request must be application/json.")
    }
    guard case .object(let object) = try parse(request.body) else {
      throw .rootIsNoMessage
    }
    return RequestMessage(object)
  }

  /// Parses a message that may also be sent as a form; the names are the same.
  static func formOrMessage(of request: Request) throws(WireError) -> RequestMessage {
    let given: Form?
    do throws(FormError) { given = try request.form() } catch { throw .payload("\(error)") }
    guard let form = given else { return try message(of: request) }
    var object = JSON.Object()
    for entry in form.entries {
      guard object[entry.name] == nil else {
        throw .payload("The field \"\(entry.name)\" appears twice.")
      }
      object.append(entry.name, .text(entry.value))
    }
    return RequestMessage(object)
  }

  private static func isJSON(_ request: Request) -> Bool {
    guard let field = request.fields[.contentType] else { return true }
    if field.isSameBytes(as: "application/json") { return true }
    guard let type = request.mediaType else { return true }
    return type.isSameBytes(as: "application/json") || type.hasSameBytes(atEnd: "+json")
      || type.isSameBytes(as: "text/json")
  }

  private static func parse(_ bytes: [UInt8]) throws(WireError) -> JSON {
    let value: JSON
    do throws(JSONError) {
      value = try JSON.parse(bytes)
    } catch {
      switch error {
      case .duplicateMember(let name):
        throw .payload("The member \"\(name)\" appears twice in an object.")
      case .invalidUTF8: throw .payload("Encountered non UTF-8 code points.")
      default: throw .payload(JSONRefusal.text(for: bytes) ?? "\(error)")
      }
    }
    if mayHoldNUL(bytes), value.hasNUL {
      throw .payload(WireError.nulInString)
    }
    return value
  }

  /// Whether the bytes may contain the escape sequence of NUL; the parser itself rejects NUL.
  private static func mayHoldNUL(_ bytes: [UInt8]) -> Bool {
    let span = bytes.span
    var zeros = 0
    for index in span.indices {
      if span[index] != UInt8(ascii: "0") {
        zeros = 0
        continue
      }
      zeros += 1
      if zeros >= 4, index >= 5, span[index - zeros] == UInt8(ascii: "u") { return true }
    }
    return false
  }
}

/// The IP address of an end user on whose behalf a backend calls.
///
/// Wrong passwords are counted by network. A backend that signs users in from its own address
/// would have them all counted together, so it forwards the user's address.
enum EndUserAddress {
  static let field: FieldName = "Countersign-Forwarded-For"

  /// Returns the address that a trusted backend forwards, or else that of the peer.
  ///
  /// `isTrusted` is whether the request has a service token that can sign in the users it's about.
  /// Otherwise the field is ignored, because anyone can send it.
  ///
  /// - Throws: ``WireError`` if a trusted backend sends anything but one IP address.
  static func of(_ request: Request, isTrusted: Bool) throws(WireError) -> ClientAddress {
    guard isTrusted else { return ClientAddress(seen: request.peer) }
    let values = request.fields.all(field)
    guard let value = values.first else { return ClientAddress(seen: request.peer) }
    guard values.count == 1, Network.isAddress(value) else {
      throw WireError(
        "The field \(field) must be one IPv4 or IPv6 address, without a port.",
        reason: "badRequest", isFrontEnd: true)
    }
    return ClientAddress(forwarded: value)
  }
}
