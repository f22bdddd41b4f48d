import joblib
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier

data = load_iris()
model = GradientBoostingClassifier(random_state=1).fit(data.data, data.target_names[data.target])
joblib.dump(model, "flowers.joblib")
