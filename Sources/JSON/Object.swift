public import Text

extension JSON {
  /// The members of a JSON object, in order, with unique names.
  ///
  /// Names are compared byte by byte. Two objects are equal regardless of order.
  ///
  /// - Complexity: Looking up a member is linear in the number of members.
  public struct Object: Sendable {
    /// A name and its value.
    public typealias Element = (name: UntrustedText, value: JSON)

    /// All members in order.
    public private(set) var members: [Element]

    /// Creates an empty object.
    public init() { members = [] }

    /// Creates an object from members with unique names.
    public init(_ members: [Element]) {
      assert(Set(members.map(\.name)).count == members.count, "two members have the same name")
      self.members = members
    }

    /// Creates an object from members with unique names from the program.
    public init(_ members: [(String, JSON)]) {
      self.init(members.map { (UntrustedText($0), $1) })
    }

    /// Creates an object from members already known to be unique.
    init(unique members: [Element]) { self.members = members }

    /// The value of a member; nil when there's none with this name.
    ///
    /// Setting keeps the member's position, or appends it; setting nil removes it. A member with
    /// the value `null` is `.null`, not nil.
    public subscript(_ name: String) -> JSON? {
      get { self[UntrustedText(name)] }
      set { self[UntrustedText(name)] = newValue }
    }

    /// The value of a member with an untrusted name.
    public subscript(_ name: UntrustedText) -> JSON? {
      get {
        for member in members where member.name == name { return member.value }
        return nil
      }
      set {
        let index = members.firstIndex { $0.name == name }
        switch (index, newValue) {
        case (let index?, let value?): members[index].value = value
        case (let index?, nil): members.remove(at: index)
        case (nil, let value?): members.append((name, value))
        case (nil, nil): break
        }
      }
    }

    /// Changes the object in a member in place.
    ///
    /// If there's no such member, or it isn't an object, the change starts with an empty object.
    public mutating func changeObject(_ name: String, _ change: (inout JSON.Object) -> Void) {
      let own = UntrustedText(name)
      guard let index = members.firstIndex(where: { $0.name == own }) else {
        var object = JSON.Object()
        change(&object)
        return append(name, .object(object))
      }
      var object = members[index].value.objectValue ?? [:]
      // Moved out during the change, so that it isn't copied.
      members[index].value = .null
      change(&object)
      members[index].value = .object(object)
    }

    /// Appends a member without looking for one with the same name.
    ///
    /// For building responses, where the caller knows that the name is new.
    public mutating func append(_ name: String, _ value: JSON) {
      append(UntrustedText(name), value)
    }

    /// Appends a member with an untrusted name, without looking for one with the same name.
    public mutating func append(_ name: UntrustedText, _ value: JSON) {
      members.append((name, value))
    }

    /// Reserves space for a number of members.
    public mutating func reserveCapacity(_ count: Int) {
      members.reserveCapacity(count)
    }

    /// The number of members.
    public var count: Int { members.count }

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    /// The names in order.
    public var names: [UntrustedText] { members.map(\.name) }
  }
}

extension JSON.Object: Sequence {
  /// Iterates over the members in order.
  public func makeIterator() -> IndexingIterator<[Element]> { members.makeIterator() }
}

extension JSON.Object: Equatable {
  /// Compares names and values, regardless of order.
  public static func == (one: Self, other: Self) -> Bool {
    guard one.count == other.count else { return false }
    if one.count <= JSON.smallCount { return one.allSatisfy { other[$0.name] == $0.value } }
    let values = Dictionary(other.members.map { ($0.name, $0.value) }) { first, _ in first }
    return one.allSatisfy { values[$0.name] == $0.value }
  }
}

extension JSON.Object: ExpressibleByDictionaryLiteral {
  /// Creates an object; names must be unique.
  public init(dictionaryLiteral elements: (String, JSON)...) { self.init(elements) }
}

extension JSON {
  /// Up to this many members, a linear search is faster than a hash table.
  static let smallCount = 16
}
