import HTTP
import JSON
import Text

/// The members of a response that a caller asks for with the query parameter `fields`, in the syntax
/// of Google's partial responses: `users(localId,mfaInfo/displayName),nextPageToken`.
///
/// `*` is every member, and a name that a response doesn't have selects nothing. Elements of a list
/// are selected alike.
struct FieldSelection: Sendable, Equatable {
  /// The selected paths; nil for the whole response.
  private let paths: [[String]]?

  /// The maximum number of paths, and of names in one: a selection is compared with every member.
  private static let most = 100
  private static let deepest = 16

  /// Parses the parameter; nil if it isn't a list of paths.
  ///
  /// A missing or empty one selects everything.
  init?(_ text: String?) {
    guard let text, !text.isEmpty else {
      paths = nil
      return
    }
    guard let parsed = Self.parse(text) else { return nil }
    paths = parsed
  }

  private static func parse(_ text: String) -> [[String]]? {
    var paths: [[String]] = []
    // The path before each open parenthesis, and before that none.
    var open: [[String]] = [[]]
    var path: [String] = []
    var name: [UInt8] = []
    var isClosed = false
    for byte in Array(text.utf8) + [UInt8(ascii: ",")] {
      switch byte {
      case UInt8(ascii: "/"), UInt8(ascii: "("):
        guard !name.isEmpty, path.count < deepest - 1 else { return nil }
        path.append(Names.camel(String(decoding: name, as: UTF8.self)))
        name = []
        if byte == UInt8(ascii: "(") { open.append(path) }
      case UInt8(ascii: ","), UInt8(ascii: ")"):
        guard name.isEmpty == isClosed, paths.count < most, let start = open.last else {
          return nil
        }
        if !isClosed { paths.append(path + [Names.camel(String(decoding: name, as: UTF8.self))]) }
        name = []
        path = start
        isClosed = byte == UInt8(ascii: ")")
        guard isClosed else { continue }
        open.removeLast()
        guard let outer = open.last else { return nil }
        path = outer
      default:
        guard !isClosed else { return nil }
        name.append(byte)
      }
    }
    return open.count == 1 && !isClosed ? paths : nil
  }

  func of(_ answer: JSON) -> JSON {
    guard let paths else { return answer }
    return Self.select(paths, at: 0, of: answer)
  }

  private static func select(_ paths: [[String]], at depth: Int, of value: JSON) -> JSON {
    switch value {
    case .object(let object):
      var selected = JSON.Object()
      for (name, value) in object {
        let camel = Names.camel(name.text)
        let fitting = paths.filter { path in
          path[depth].isSameBytes(as: "*") || path[depth].isSameBytes(as: camel)
        }
        guard !fitting.isEmpty else { continue }
        let isWhole = fitting.contains { $0.count == depth + 1 }
        selected.append(name, isWhole ? value : select(fitting, at: depth + 1, of: value))
      }
      return .object(selected)
    case .array(let elements):
      return .array(elements.map { select(paths, at: depth, of: $0) })
    default: return value
    }
  }
}

extension Request {
  var fieldSelection: FieldSelection {
    get throws(WireError) {
      guard let selection = FieldSelection(parameter("fields")) else {
        throw WireError("Invalid field selection")
      }
      return selection
    }
  }
}
