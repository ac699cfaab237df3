import HTTP
import Identity

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
