/// The kind of a key's value, known without a model.
@usableFromInline
enum Kind: Sendable {
  case text, number, flag, markup, texts
  case list(@Sendable () -> Shape)
  case object(@Sendable () -> Shape)

  /// The kind as text that can follow “is”.
  var words: String {
    switch self {
    case .text: "text"
    case .number: "a number"
    case .flag: "a flag"
    case .markup: "markup"
    case .texts: "a list of texts"
    case .list: "a list"
    case .object: "an object"
    }
  }
}

/// The names and kinds of a model's keys, independent of its type.
@usableFromInline
struct Shape: Sendable {
  /// The type of the model; its name is for errors, because describing it is slow.
  let type: Any.Type
  let names: [String]
  let kinds: [Kind]

  /// The name of the model, for errors.
  var model: String { String(describing: type) }

  /// The first duplicate name; nil when there's none.
  var repeatedName: String? {
    var seen: Set<String> = []
    return names.first { !seen.insert($0).inserted }
  }
}
