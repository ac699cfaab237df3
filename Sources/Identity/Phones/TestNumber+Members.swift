import JSON
import Text

extension TestNumber {
  /// The configuration member with the test numbers of a project or tenant.
  package static func path(isTenant: Bool) -> [String] { paths[isTenant ? 1 : 0] }

  /// The member of a project, and that of a tenant.
  static let paths = [["signIn", "phoneNumber", "testPhoneNumbers"], ["testPhoneNumbers"]]

  /// Returns the text of configuration members without the test phone numbers and objects that have
  /// nothing else.
  static func removed(from members: JSON?, _ text: String, isTenant: Bool) -> String {
    guard text.contains("testPhoneNumbers"), var root = members?.objectValue else { return text }
    remove(path(isTenant: isTenant)[...], from: &root)
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
