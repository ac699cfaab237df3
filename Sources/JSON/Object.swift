extension JSON {
  /// The members of a JSON object, in order, each name once.
  ///
  /// Names are equal when their bytes are equal. Two objects are equal whatever their order.
  ///
  /// - Complexity: finding a member takes time in proportion to their number.
  public struct Object: Sendable {
    /// A name and its value.
    public typealias Element = (name: UntrustedText, value: JSON)

    /// All members in order.
    public private(set) var members: [Element]

    /// Makes an object without members.
    public init() { members = [] }

    /// Makes an object of members whose names differ.
    public init(_ members: [Element]) {
      assert(Set(members.map(\.name)).count == members.count, "a name stands twice")
      self.members = members
    }

    /// Makes an object of members whose names are the program's own, and differ.
    public init(_ members: [(String, JSON)]) {
      self.init(members.map { (UntrustedText($0), $1) })
    }

    /// Makes an object of members that were compared already.
    init(unique members: [Element]) { self.members = members }

    /// The value of a member, or nil when there is none of that name.
    ///
    /// Setting keeps the member's place, or adds it at the end; setting nil removes it. A member
    /// that is there and `null` is `.null`, not nil.
    public subscript(_ name: String) -> JSON? {
      get { self[UntrustedText(name)] }
      set { self[UntrustedText(name)] = newValue }
    }

    /// The value of a member whose name came from outside.
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

    /// Changes the object in a member where it stands.
    ///
    /// Where there is no such member, or no object in it, the change begins with an empty one.
    public mutating func changeObject(_ name: String, _ change: (inout JSON.Object) -> Void) {
      let own = UntrustedText(name)
      guard let index = members.firstIndex(where: { $0.name == own }) else {
        var object = JSON.Object()
        change(&object)
        return append(name, .object(object))
      }
      var object = members[index].value.objectValue ?? [:]
      // Taken out while it changes, so that it is not copied.
      members[index].value = .null
      change(&object)
      members[index].value = .object(object)
    }

    /// Adds a member at the end without looking for another of its name.
    ///
    /// For building an answer; the caller knows that the name is new.
    public mutating func append(_ name: String, _ value: JSON) {
      append(UntrustedText(name), value)
    }

    /// Adds a member whose name came from outside, without looking for another of its name.
    public mutating func append(_ name: UntrustedText, _ value: JSON) {
      members.append((name, value))
    }

    /// Makes room for so many members.
    public mutating func reserveCapacity(_ count: Int) {
      members.reserveCapacity(count)
    }

    /// How many members there are.
    public var count: Int { members.count }

    /// Whether there is no member.
    public var isEmpty: Bool { members.isEmpty }

    /// The names in order.
    public var names: [UntrustedText] { members.map(\.name) }
  }
}

extension JSON.Object: Sequence {
  /// Goes over the members in order.
  public func makeIterator() -> IndexingIterator<[Element]> { members.makeIterator() }
}

extension JSON.Object: Equatable {
  /// Whether both have the same names with equal values, in whatever order.
  public static func == (one: Self, other: Self) -> Bool {
    guard one.count == other.count else { return false }
    if one.count <= JSON.smallCount { return one.allSatisfy { other[$0.name] == $0.value } }
    let values = Dictionary(other.members.map { ($0.name, $0.value) }) { first, _ in first }
    return one.allSatisfy { values[$0.name] == $0.value }
  }
}

extension JSON.Object: ExpressibleByDictionaryLiteral {
  /// Makes an object; every name may stand once.
  public init(dictionaryLiteral elements: (String, JSON)...) { self.init(elements) }
}

extension JSON {
  /// Up to so many members a search from the first is quicker than a hash table.
  static let smallCount = 16
}
