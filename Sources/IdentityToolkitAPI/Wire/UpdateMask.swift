import JSON

/// The members that a PATCH is about: comma-separated paths in camel or snake case.
struct UpdateMask: Sendable, Equatable {
  /// The paths, in camel case, each split at its dots.
  let paths: [[String]]

  /// Reads the parameter; what is not a path is passed over, as an unknown path would be.
  init(_ text: String) {
    paths = text.split(separator: ",").map { path in
      path.split(separator: ".", omittingEmptySubsequences: false).map { segment in
        Names.camel(String(segment).trimmingSpaces)
      }
    }.filter { !$0.contains("") }
  }

  /// Names the members of a body that came without a mask.
  init(of body: JSON.Object) {
    paths = body.names.map { [Names.camel($0.text)] }
  }

  /// Whether the mask is about a member, or about something in it.
  func covers(_ name: String) -> Bool { paths.contains { $0.first == name } }

  init(_ paths: [[String]]) { self.paths = paths }

  /// Puts what the body says at the mask's paths into a resource.
  ///
  /// A path that the body has is replaced whole, lists and messages included; one that it does
  /// not have is cleared. A path into a list or into a plain value is no path and is passed over.
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

extension String {
  fileprivate var trimmingSpaces: String {
    var text = self[...]
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
