import HTTP
import JSON
import Text

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
