-- Populations: datasets whose subject keys name the same people share a name.
-- docs/STORE.md tells the story; ../sqlite/ holds the same column.

-- Given when the dataset is made, and never another; null: a population by itself.
ALTER TABLE dataset ADD COLUMN population text;
CREATE INDEX dataset_population ON dataset (population) WHERE population IS NOT NULL;
