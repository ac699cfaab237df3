import HTTP
import Identity

/// The address of an end user on whose behalf a back end calls.
///
/// Wrong passwords are counted by network. A back end that signs users in from its own address would
/// have all of them counted together, so it says for whom it calls.
enum EndUserAddress {
  /// The field that names it.
  static let field: FieldName = "Countersign-Forwarded-For"

  /// The address of a request's end user.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - isTrusted: Whether it has a service token that may sign in the users it's about. The field
  ///     is ignored otherwise: anybody can send it.
  /// - Returns: The address that the back end names, or else the one the request came from.
  /// - Throws: ``WireError`` when a trusted back end sends anything but one IP address.
  static func of(_ request: Request, isTrusted: Bool) throws(WireError) -> String {
    guard isTrusted else { return request.peer }
    let values = request.fields.all(field)
    guard let value = values.first else { return request.peer }
    guard values.count == 1, Network.isAddress(value) else {
      throw WireError(
        "The field \(field) must be one IPv4 or IPv6 address, without a port.",
        reason: "badRequest", isFrontEnd: true)
    }
    return value
  }
}
