import Identity
import JSON

/// Helpers for resources of which most members are only stored and given back.
enum Resource {
  /// A body with every name in camel case, so that stored members have one spelling.
  ///
  /// Names below `testPhoneNumbers` and `triggers` are data, not names.
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

  /// Keeps the members that a resource has and a caller may write.
  static func members(_ names: [String], of object: JSON.Object) -> JSON.Object {
    JSON.Object(
      object.members.filter { member in
        names.contains { member.name == UntrustedText($0) }
      })
  }

  /// Stored members; what is stored was JSON when it was written.
  static func stored(_ text: String) -> JSON.Object {
    (try? JSON.parse(Array(text.utf8)))?.objectValue ?? [:]
  }

  static func text(_ object: JSON.Object) -> String {
    String(decoding: JSON.object(object).serialized(), as: UTF8.self)
  }

  /// Sets a value at a path, making the objects on the way.
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

  /// The truth value at a path; absent and everything else is false.
  static func flag(_ path: String..., in object: JSON.Object) -> Bool {
    path.reduce(JSON.object(object)) { $0[$1] ?? .null }.boolValue ?? false
  }

  /// Settles what the wire format says about members that depend on each other.
  ///
  /// `smsRegionConfig` is a choice of two: writing one takes the other away.
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

  /// Members that the rules keep, and not the text of stored members.
  static let kept = [
    ["client", "permissions"], ["autodeleteAnonymousUsers"],
  ]

  /// Members that are read only, and a password that is nobody's business here.
  private static let dropped = [
    ["hashConfig"], ["signIn", "hashConfig"], ["client", "apiKey"],
    ["client", "firebaseSubdomain"],
    ["notification", "sendEmail", "smtp", "password"], ["name"], ["subtype"],
  ]

  /// What a caller may have stored of a body.
  static func writable(_ body: JSON.Object) -> JSON.Object {
    var body = body
    for path in dropped { remove(path, from: &body) }
    return body
  }

  /// Takes the value at a path away, and the objects on the way that it leaves empty.
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

  /// `client.permissions`: what users may not do, left out where they may.
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
