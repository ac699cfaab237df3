import Identity
import JSON
import Text

/// The members that a PATCH changes: comma-separated paths in camel case or snake case.
struct UpdateMask: Sendable, Equatable {
  /// The paths in camel case, each split at its dots.
  let paths: [[String]]

  /// Parses the parameter; invalid paths are ignored, like unknown ones.
  init(_ text: String) {
    paths = text.utf8.split(separator: UInt8(ascii: ",")).map { path in
      path.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { segment in
        Names.camel(String(Substring(segment.trimmingSpaces)))
      }
    }.filter { !$0.contains("") }
  }

  /// Creates the mask of a body that was sent without one, from its members; those that are null are
  /// absent, as everywhere in proto3 JSON.
  init(of body: JSON.Object) {
    paths = body.members.filter { !$0.value.isNull }.map { [Names.camel($0.name.text)] }
  }

  func covers(_ name: String) -> Bool { paths.contains { $0.first == name } }

  /// Returns the part of the mask with these members; the others are kept byte for byte.
  func keeping(_ members: [String]) -> UpdateMask {
    UpdateMask(paths.filter { path in path.first.map(members.contains) ?? false })
  }

  init(_ paths: [[String]]) { self.paths = paths }

  /// Copies the values at the mask's paths from the body to a resource.
  ///
  /// A path in the body is replaced as a whole, including lists and messages; a path that isn't in
  /// the body is cleared. Paths into lists or scalar values are ignored.
  func apply(_ body: JSON.Object, to resource: inout JSON.Object) {
    for path in paths {
      let value = path.reduce(JSON.object(body)) { value, name in value[name] ?? .null }
      UpdateMask.set(path[...], value.isNull ? JSON?.none : value, in: &resource)
    }
  }

  private static func set(_ path: ArraySlice<String>, _ value: JSON?, in object: inout JSON.Object)
  {
    guard let name = path.first else { return }
    let rest = path.dropFirst()
    if rest.isEmpty {
      object[name] = value
      return
    }
    switch object[name] {
    case .object(var inner):
      set(rest, value, in: &inner)
      object[name] = .object(inner)
    case nil where value != nil:
      var inner = JSON.Object()
      set(rest, value, in: &inner)
      object[name] = .object(inner)
    default: break
    }
  }
}

extension Substring.UTF8View {
  fileprivate var trimmingSpaces: Self {
    let space = UInt8(ascii: " ")
    var text = self.drop { $0 == space }
    while text.last == space { text.removeLast() }
    return text
  }
}

/// Settings with members that are only stored and returned, as JSON text.
protocol StoringMembers: Equatable, Sendable {
  var members: String { get }
}

extension PoolEdit: StoringMembers {}
extension ProviderSettings: StoringMembers {}

/// An edit of settings that was carried out before its transaction, on the settings as they were
/// then.
///
/// All writes share one thread. There, the edit compares and assigns values; JSON is merged only if
/// another change came in between.
struct PreparedEdit<Settings: StoringMembers, Reason: Error>: Sendable {
  private let base: Settings
  private let result: Result<Settings, Reason>
  private let edit: @Sendable (inout Settings) throws(Reason) -> Void

  /// Carries out an edit; an error is thrown when the edit is applied.
  init(of base: Settings, _ edit: @escaping @Sendable (inout Settings) throws(Reason) -> Void) {
    self.base = base
    self.edit = edit
    result = Result { () throws(Reason) in
      var settings = base
      try edit(&settings)
      return settings
    }
  }

  func apply(to settings: inout Settings) throws(Reason) {
    guard settings.members.isSameBytes(as: base.members), settings == base else {
      return try edit(&settings)
    }
    settings = try result.get()
  }
}
