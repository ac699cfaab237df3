/// Puts changes into words.
enum Words {
  /// A number with its noun: "1 session", "3 sessions".
  static func count(_ number: Int, _ one: String, _ many: String) -> String {
    "\(number) \(number == 1 ? one : many)"
  }

  static func onOff(_ flag: Bool) -> String { flag ? "on" : "off" }

  /// The fields that differ, as "name: value; …" before and after.
  static func difference(
    _ old: [(String, String)], _ new: [(String, String)]
  ) -> (from: String?, to: String?) {
    let changed = zip(old, new).filter { !$0.0.1.isSameBytes(as: $0.1.1) }
    guard !changed.isEmpty else { return (nil, nil) }
    return (
      changed.map { "\($0.0.0): \($0.0.1)" }.joined(separator: "; "),
      changed.map { "\($0.1.0): \($0.1.1)" }.joined(separator: "; ")
    )
  }
}
