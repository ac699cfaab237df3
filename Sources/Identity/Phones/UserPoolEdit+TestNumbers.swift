import JSON
import Text

extension TestNumber {
  /// The configuration member with the test numbers of a project or tenant.
  package static func path(isTenant: Bool) -> [String] { paths[isTenant ? 1 : 0] }

  /// The member of a project, and that of a tenant.
  static let paths = [["signIn", "phoneNumber", "testPhoneNumbers"], ["testPhoneNumbers"]]
}

extension UserPoolEdit {
  private var hasTestNumbers: Bool { members.contains("testPhoneNumbers") }

  /// The fixed codes of the test phone numbers.
  var testCodes: [String: String] {
    guard hasTestNumbers else { return [:] }
    return SMSSettings(members: members, isTenant: project == nil).testCodes
  }

  /// ``members`` without the test phone numbers and objects that have nothing else.
  var membersWithoutTestNumbers: String {
    guard hasTestNumbers, var root = (try? JSON.parse(Array(members.utf8)))?.objectValue else {
      return members
    }
    Self.remove(TestNumber.path(isTenant: project == nil)[...], from: &root)
    return String(decoding: JSON.object(root).serialized(), as: UTF8.self)
  }

  private static func remove(_ path: ArraySlice<String>, from object: inout JSON.Object) {
    guard let name = path.first else { return }
    guard path.count > 1 else {
      object[name] = nil
      return
    }
    guard var inner = object[name]?.objectValue else { return }
    remove(path.dropFirst(), from: &inner)
    object[name] = inner.isEmpty ? JSON?.none : .object(inner)
  }
}
