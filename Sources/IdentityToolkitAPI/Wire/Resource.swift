import Identity
import JSON
import Text

enum Resource {
  /// Returns a body with all names in camel case, so that stored members have one spelling.
  ///
  /// Names below `testPhoneNumbers` and `triggers` are data and kept as they are.
  static func camelCased(_ object: JSON.Object) -> JSON.Object {
    JSON.Object(
      object.members.map { name, value in
        let name = UntrustedText(Names.camel(name.text))
        let isMap = name == "testPhoneNumbers" || name == "triggers"
        return (name, isMap ? value : camelCased(value))
      })
  }

  static func camelCased(_ value: JSON) -> JSON {
    switch value {
    case .object(let object): .object(camelCased(object))
    case .array(let elements): .array(elements.map(camelCased))
    default: value
    }
  }

  static func members(_ names: [String], of object: JSON.Object) -> JSON.Object {
    JSON.Object(
      object.members.filter { member in
        names.contains { member.name == UntrustedText($0) }
      })
  }

  /// Parses stored members, which were valid JSON when they were written.
  static func stored(_ text: String) -> JSON.Object {
    (try? JSON.parse(Array(text.utf8)))?.objectValue ?? [:]
  }

  static func text(_ object: JSON.Object) -> String {
    String(decoding: JSON.object(object).serialized(), as: UTF8.self)
  }

  static func set(_ value: JSON, at path: [String], in object: inout JSON.Object) {
    set(value, at: path[...], in: &object)
  }

  private static func set(
    _ value: JSON, at path: ArraySlice<String>, in object: inout JSON.Object
  ) {
    guard let name = path.first else { return }
    guard path.count > 1 else {
      object[name] = value
      return
    }
    object.changeObject(name) { set(value, at: path.dropFirst(), in: &$0) }
  }

  static func value(at path: [String], in object: JSON.Object) -> JSON? {
    path.reduce(JSON?.some(.object(object))) { value, name in value?[name] }
  }

  /// Returns the Boolean at a path; anything else is false.
  static func flag(_ path: String..., in object: JSON.Object) -> Bool {
    value(at: path, in: object)?.boolValue ?? false
  }

  /// Reconciles members that depend on each other.
  ///
  /// `smsRegionConfig` is a oneof: writing one member removes the other.
  static func reconcile(_ resource: inout JSON.Object, after mask: UpdateMask, _ body: JSON.Object)
  {
    guard mask.covers("smsRegionConfig"),
      var regions = resource["smsRegionConfig"]?.objectValue, regions.count > 1
    else { return }
    let written = body["smsRegionConfig"]?.objectValue?.names.last ?? ""
    for name in ["allowByDefault", "allowlistOnly"] as [UntrustedText] where name != written {
      regions[name] = nil
    }
    resource["smsRegionConfig"] = .object(regions)
  }

  /// Replaces stored members with others, unless both mean the same.
  ///
  /// A part that means the same keeps its stored form, so that writing back what was read changes
  /// nothing, whichever version stored it. `columns` are the paths with columns of their own, which
  /// aren't stored in the text, and `empty` those of objects that are returned even if they aren't
  /// stored.
  static func store(
    _ new: JSON.Object, in text: inout String, _ schema: Schema, columns: [[String]],
    empty: [[String]] = []
  ) {
    var (old, new) = (stored(text), new)
    for path in columns {
      remove(path, from: &old)
      remove(path, from: &new)
    }
    let empty =
      empty + columns.flatMap { path in (1..<path.count).reversed().map { Array(path.prefix($0)) } }
    func stripped(_ object: JSON.Object) -> JSON.Object {
      var object = object
      for path in empty where value(at: path, in: object)?.objectValue?.isEmpty == true {
        remove(path, from: &object)
      }
      return object
    }
    guard
      stripped(schema.omittingDefaults(new)) != stripped(schema.omittingDefaults(old))
    else { return }
    text = Self.text(stripped(schema.storing(new, over: old)))
  }

  /// Read-only members, and an SMTP password, which isn't stored here.
  private static let dropped = [
    ["hashConfig"], ["signIn", "hashConfig"], ["client", "apiKey"],
    ["client", "firebaseSubdomain"],
    ["notification", "sendEmail", "smtp", "password"], ["name"], ["subtype"],
  ]

  static func writable(_ body: JSON.Object) -> JSON.Object {
    var body = body
    for path in dropped { remove(path, from: &body) }
    return body
  }

  /// Removes the value at a path, and parent objects that become empty.
  static func remove(_ path: [String], from object: inout JSON.Object) {
    guard let name = path.first else { return }
    guard path.count > 1 else {
      object[name] = nil
      return
    }
    guard var inner = object[name]?.objectValue else { return }
    let wasEmpty = inner.isEmpty
    remove(Array(path.dropFirst()), from: &inner)
    object[name] = inner.isEmpty && !wasEmpty ? nil : .object(inner)
  }

  /// Writes `client.permissions`, which lists the disabled user actions; enabled ones are omitted.
  static func write(_ permissions: UserPermissions, into resource: inout JSON.Object) {
    let switches = [
      ("disabledUserSignup", !permissions.signUp), ("disabledUserDeletion", !permissions.deletion),
    ]
    for (name, isOff) in switches where isOff {
      set(true, at: ["client", "permissions", name], in: &resource)
    }
  }

  static func userPermissions(_ resource: JSON.Object) -> UserPermissions {
    UserPermissions(
      signUp: !flag("client", "permissions", "disabledUserSignup", in: resource),
      deletion: !flag("client", "permissions", "disabledUserDeletion", in: resource))
  }
}
